"""Writes docs/reference/diagnostics.md, and the heads of the pages about codes, from the codes; or checks them.

A page is `rules/CODE.md` in the package that owns the code; its first line is made here, the rest by hand.

python tools/codes_page.py [--check]
"""

from __future__ import annotations

import sys
from os.path import relpath
from pathlib import Path

from tuvl_core import Code, Plugins, all_codes, rule_page

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "diagnostics.md"
HEAD = """# Diagnostics

This page is made from the codes themselves by `make docs`. `tuvl rule CODE` prints the page of a code: what it means,
a document that fires it, and one that does not.

A finding has a stable code. Its **class** says what it means for a run: a `structure` error refuses the run
(`tuvl run` exits with 3); a `flow` error does not: the run fails, or goes on with a warning, when it gets there.
Codes that start with `TUVL-` are tuvl's own; a plugin's carry a prefix of its own. How to silence a finding that is
right as it is: [suppressions](cli.md#suppressions).

| Prefix | About |
|---|---|
| `TUVL-Y` | reading YAML and files |
| `TUVL-S` | structure: keys, types, references, environment, settings, suppressions |
| `TUVL-W` | workflows and routing |
| `TUVL-A` | Agent and AutonomousAgent |
| `TUVL-P` | plugins |
| `TUVL-M` | models |
| `TUVL-V` | supervisors |
| `TUVL-D` | databases: models, data sources, ModelOp |
| `TUVL-F` `TUVL-R` `TUVL-H` `TUVL-T` … | the kind that the finding is about |

| Code | Severity | Class | What it is |
|---|---|---|---|
"""


def main(arguments: list[str]) -> int:
    plugins = Plugins.load(environ={})
    codes = all_codes(plugins)
    missing = sorted(name for name in codes if rule_page(plugins, name) is None)
    if missing:
        print(f"there is no page about {', '.join(missing)}: write rules/CODE.md in the package that owns it")
    texts = {PAGE: HEAD + "".join(row(codes[name]) for name in sorted(codes) if name not in missing)}
    for name in sorted(set(codes) - set(missing)):
        page = page_of(name)
        _, gap, rest = page.read_text(encoding="utf-8").partition("\n\n")
        texts[page] = f"# {name}: {codes[name].title} ({codes[name].severity}, {codes[name].klass}){gap}{rest}"
    strays = sorted(set(pages()) - set(codes))
    if strays:
        print(f"there are pages about codes that do not exist: {', '.join(strays)}")
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" not in arguments:
        for path in stale:
            path.write_text(texts[path], encoding="utf-8")
    elif stale:
        print("not current: " + ", ".join(path.relative_to(ROOT).as_posix() for path in stale) + "; run: make docs")
    return 1 if missing or strays or (stale and "--check" in arguments) else 0


def row(code: Code) -> str:
    link = relpath(page_of(code.code), PAGE.parent).replace("\\", "/")
    return f"| [`{code.code}`]({link}) | {code.severity} | {code.klass} | {code.title} |\n"


def pages() -> dict[str, Path]:
    found = [*ROOT.glob("tuvl_*/src/*/rules/*.md"), *ROOT.glob("plugins/*/src/*/rules/*.md")]
    return {path.stem: path for path in found}


def page_of(name: str) -> Path:
    return pages()[name]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
