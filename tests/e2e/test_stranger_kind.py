"""A stranger's kind: a package outside the repository, built and installed with pip, with no kernel change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

FILES = {
    "pyproject.toml": """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"

        [project]
        name = "acme-weather"
        version = "1.2.0"
        description = "A kind that tells the weather."
        requires-python = ">=3.11"
        dependencies = ["tuvl-core>=3,<4"]

        [project.entry-points.tuvl]
        weather = "acme_weather.plugin"

        [tool.hatch.build.targets.wheel]
        packages = ["src/acme_weather"]
        """,
    "src/acme_weather/__init__.py": "",
    "src/acme_weather/plugin.py": """
        from tuvl_core import hookimpl

        TUVL_API = 1


        @hookimpl
        def tuvl_step_kinds():
            from acme_weather.kind import Weather

            return [Weather]
        """,
    "src/acme_weather/kind.py": '''
        import attrs

        from tuvl_core import Keys, Signals, StepError, StepKind, StepResult, Template, field


        @attrs.frozen(kw_only=True)
        class WeatherConfig:
            """The keys of a weather step."""

            city: Template[str] = field(doc="Where.")
            days: int = field(default=1, min=1, max=7, doc="How many days.")


        class Weather(StepKind):
            """Tell the weather of a city."""

            name = "acme.Weather"
            Config = WeatherConfig
            signals = Signals("default", "storm")
            writes = Keys("forecast")
            output_key = "forecast"

            async def run(self, call):
                city = call.render(call.step.config.city)
                if city == "Atlantis":
                    raise StepError(f"there is no weather in {city}", type="no_city")
                call.progress("asked", {"days": call.step.config.days})
                signal = "storm" if city == "Oslo" else "default"
                return StepResult(signal, {"forecast": {"city": city, "days": call.step.config.days}})
        ''',
}
WORKFLOWS = """
kind: Workflow
metadata: { name: direct }
spec:
  output: said
  steps:
    - { id: ask, kind: acme.Weather, city: "{{ city }}", days: 2, routes: { default: calm, storm: rough, error: gone } }
    - { id: calm, kind: Response, mapping: { calm: forecast }, routes: { default: END } }
    - { id: rough, kind: Response, mapping: { rough: forecast }, routes: { default: END } }
    - { id: gone, kind: Response, mapping: { gone: _last_error } }
---
kind: Workflow
metadata: { name: agent }
spec:
  output: work_result
  steps:
    - id: work
      kind: AutonomousAgent
      agent:
        model: scripted/script
        steering: Tell the weather.
        tools: [{ ref: ask }]
        outcome: { enum: [told] }
      routes: { told: END, max_iterations: END, budget_exceeded: END, aborted: END }
    - { id: ask, kind: acme.Weather, description: Tell the weather of a city., city: "{{ city }}" }
---
kind: ScriptedModel
metadata: { name: script }
spec:
  turns:
    - calls: [{ name: ask, arguments: { city: Rome } }, { name: ask, arguments: { town: Rome } }]
    - answer: { outcome: told, result: { $result: error } }
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package, and install it into a folder of its own."""
    source = tmp_path_factory.mktemp("acme-weather")
    for name, text in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(dedent(text))
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, capture_output=True)
    return target


def tuvl(site: Path, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, "-m", "tuvl_cli", *arguments], cwd=project, env=environ, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "w.yaml").write_text(WORKFLOWS)
    return tmp_path


def test_it_is_listed_with_what_it_declares(site: Path, project: Path) -> None:
    listed = json.loads(tuvl(site, project, "kinds", "--json").stdout)
    [kind] = [item for item in listed["kinds"] if item["name"] == "acme.Weather"]
    assert (kind["distribution"], kind["version"]) == ("acme-weather", "1.2.0")
    assert kind["signals"]["names"] == ["default", "storm"]
    assert kind["effects"] == "irreversible"  # what it does not say is taken at its worst
    assert kind["schema"]["properties"]["days"]["maximum"] == 7
    plugins = json.loads(tuvl(site, project, "plugins", "--json").stdout)["plugins"]
    assert [item["state"] for item in plugins if item["dist"] == "acme-weather"] == ["ready"]


def test_its_keys_are_checked_at_their_line(site: Path, project: Path) -> None:
    assert tuvl(site, project, "validate").returncode == 0
    bad = WORKFLOWS.replace("days: 2", "days: 9").replace('city: "{{ city }}" }', "ctiy: Rome }")
    (project / "w.yaml").write_text(bad)
    done = tuvl(site, project, "validate", "--format", "json")
    found = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == 1
    lines = bad.splitlines()
    [days] = [item for item in found if "days" in item["message"]]
    assert lines[days["line"] - 1][days["column"] - 1 :].startswith("9")
    [typo] = [item for item in found if "ctiy" in item["message"] and item["hint"]]
    assert lines[typo["line"] - 1][typo["column"] - 1 :].startswith("ctiy")
    assert "city" in typo["hint"]


@pytest.mark.parametrize(("city", "step"), [("Rome", "calm"), ("Oslo", "rough"), ("Atlantis", "gone")])
def test_its_signals_are_routed(site: Path, project: Path, city: str, step: str) -> None:
    done = tuvl(site, project, "run", "direct", "--json", "--input", json.dumps({"city": city}))
    result = json.loads(done.stdout)
    assert [entry["step"] for entry in result["path"]] == ["ask", step]
    assert list(result["result"]) == [step if step != "rough" else "rough"]


def test_an_agent_calls_it_and_its_progress_is_seen(site: Path, project: Path) -> None:
    done = tuvl(site, project, "run", "agent", "--events")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert events[-1]["type"] == "run"
    assert "town" in events[-1]["result"]
    calls = [e["snapshot"]["agent_progress"] for e in events if "agent_progress" in e["snapshot"]]
    assert [(c["tool"], c["signal"]) for c in calls if c["type"] == "tool_call"] == [
        ("ask", "default"),
        ("ask", "error"),
    ]
    [own] = [e["snapshot"]["progress"] for e in events if "progress" in e["snapshot"]]
    assert own == {"acme-weather": {"type": "asked", "days": 1}}
