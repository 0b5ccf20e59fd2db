"""A workflow explained, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

__all__ = ["as_text"]

_NAMES: Final = {
    "model_calls": "model calls",
    "tool_calls": "tool calls",
    "tokens": "tokens",
    "seconds": "seconds",
    "money": "US dollars",
}
_DECIDES: Final = {
    "url_host": "the host of a URL",
    "sql_identifier": "a name in SQL",
    "command": "a command",
    "file_path": "the path of a file",
}
_ENDS: Final = {"complete": "completes the run", "stop": "stops the run", "fail": "fails the run: no route"}


def as_text(found: Mapping[str, Any]) -> str:
    """Tell it in lines."""
    return "\n".join(_lines(found))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"workflow {found['workflow']}, starts at {found['starts_at'] or 'nothing that can be read'}"
    for step in found["steps"]:
        yield ""
        yield from _step(step, complete=found["complete"])
    for id in found["left_out"]:
        yield ""
        yield f"{id}  cannot be read"
    yield ""
    if found["run"] is None:
        yield "what a run costs at most is told when what refuses a run is put right"
        return
    yield "a run costs at most"
    yield from _run(found["run"])
    if found["not_counted"]:
        yield f"  not counted: models that {', '.join(found['not_counted'])} may ask past tuvl"
    if found["model_values"]:
        yield ""
        yield "values that a model chose go into"
        for use in found["model_values"]:
            yield f"  {_use(use)}"


def _step(step: Mapping[str, Any], *, complete: bool) -> Iterator[str]:
    yield f"{step['id']}  {step['kind']} ({step['distribution']}){_place(step, complete)}"
    # Where parts cannot be read, nobody knows where no way leads.
    told = step["reachable"] or (step["on_spine"] and not complete)
    for signal in step["signals"] if told else ():
        yield f"  {_signal(signal)}"
    for item in step["swallows"] if told else ():
        if item["signal"] == "default":
            yield f"  swallows  {item['what']}: it leaves by default"
        elif item["as_if_it_had_succeeded"]:
            yield f"  swallows  {item['signal']}: the run goes on as if the step had succeeded, but for _last_error"
    yield f"  reads     {_keys(step['reads'])}"
    yield f"  writes    {_keys(step['writes'])}"
    undone = ", undone where the run fails" if step["transactional"] and step["effects"] == "writes" else ""
    yield f"  effects   {step['effects']}{undone}"
    yield f"  may reach {_reach(step['capabilities'])}"
    if step["tools"]:
        yield f"  tools     {', '.join(step['tools'])}"
    yield from _cost(step["cost"])


def _place(step: Mapping[str, Any], complete: bool) -> str:
    if step["reachable"]:
        return ""
    if step["tool_of"]:
        return f", a tool of {', '.join(step['tool_of'])}"
    return ", no way leads here" if complete else ", no way that can be read leads here"


def _signal(signal: Mapping[str, Any]) -> str:
    name = "any other" if signal["signal"] == "*" else signal["signal"]
    where = signal["target"] if signal["leads_to"] == "step" else _ENDS[signal["leads_to"]]
    return f"{name} → {where}"


def _keys(keys: Mapping[str, Any]) -> str:
    named = ", ".join(keys["keys"])
    if keys["others"]:
        return f"{named} and whatever else" if named else "whatever it likes"
    return named or "nothing"


def _reach(capabilities: Mapping[str, Any]) -> str:
    found = [f"the network ({', '.join(capabilities['network'])})"] if capabilities["network"] else []
    found += [name for name, value in capabilities.items() if value is True]
    return ", ".join(found) or "nothing"


def _cost(cost: Mapping[str, Any]) -> Iterator[str]:
    parts = [f"{_amount(cost[name])} {text}" for name, text in _NAMES.items() if cost[name]]
    yield f"  costs     {'at most ' + ', '.join(parts) if parts else 'nothing that is known'}"
    if cost["how"]:
        yield f"            {cost['how']}"
    for why, names in _grouped(cost["unbounded"]).items():
        yield f"            unbounded {', '.join(names)}: {why}"


def _grouped(unbounded: Mapping[str, str]) -> dict[str, list[str]]:
    """Names of quantities by the reason they share."""
    found: dict[str, list[str]] = {}
    for name, why in unbounded.items():
        found.setdefault(why, []).append(_NAMES[name])
    return found


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    for name, bound in run.items():
        amount = "unbounded" if bound["bound"] is None else _amount(bound["bound"])
        yield f"  {_NAMES[name]:<12}{amount:<12}{_why(bound)}".rstrip()
        for place, why in list(bound["unbounded"].items())[1:]:
            yield f"  {'':<24}{place}: {why}"


def _why(bound: Mapping[str, Any]) -> str:
    if bound["bound"] is None:
        place, why = next(iter(bound["unbounded"].items()))
        return f"{place}: {why}"
    if bound["limited_by"] is not None:
        return f"by {bound['limited_by']}"
    again = " (and where it is done again after a conflict)" if bound["includes_repetitions"] else ""
    return f"{_way(bound['path'])}{again}"


def _way(legs: Sequence[Mapping[str, Any]]) -> str:
    return " → ".join(_leg(leg["steps"], leg["times"]) for leg in legs)


def _leg(steps: Sequence[str], times: int) -> str:
    shown = " → ".join(steps)
    if times == 1:
        return shown
    return f"({shown}) × {times}" if len(steps) > 1 else f"{shown} × {times}"


def _use(use: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in use["path"])
    decides = f", where it decides {_DECIDES.get(use['decides'], use['decides'])}" if use["decides"] else ""
    return f"{use['step']} {place}: `{use['name']}`{decides} ({use['source']})"


def _amount(value: float) -> str:
    if isinstance(value, int) or value == int(value):
        return f"{int(value)}"
    return f"{value:.2f}" if value >= 1 else f"{value:.2g}"
