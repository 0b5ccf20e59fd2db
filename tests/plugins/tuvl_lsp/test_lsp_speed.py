"""A keystroke is answered before it is felt, however large the project is."""

from __future__ import annotations

import asyncio
import time

from lsp_editor import DESK, MODEL

FILES = 500
LIMIT_S = 0.05


async def test_a_keystroke_among_many_files(editor):
    editor.write("model.yaml", MODEL)
    steps = "".join(
        f"    - id: r{n}\n      kind: Response\n      mapping: {{ a: result.x{n} }}\n      routes: {{ default: END }}\n"
        for n in range(9)
    )
    for number in range(FILES):
        editor.write(f"workflows/w{number}.yaml", DESK.replace("desk", f"w{number}") + steps)
    await editor.start()
    path = "workflows/w7.yaml"
    text = (editor.root / path).read_text(encoding="utf-8")
    editor.open(path)
    await settled(editor)
    taken = []
    for number in range(12):
        # Each second text has one mistake more, so that every keystroke is answered with news.
        changed = text.replace("done: say", "done: sya") if number % 2 == 0 else text
        editor.news.clear()
        started = time.perf_counter()
        editor.change(path, changed + "# typed" * number)
        async with asyncio.timeout(10):
            await editor.news.wait()
        taken.append(time.perf_counter() - started)
    # The least of them: what the machine does besides is not what is measured.
    assert min(taken) < LIMIT_S, [round(item * 1000) for item in taken]


async def settled(editor) -> None:
    """Wait until the project has been read and checked: every file has its findings, as `w0` has."""
    async with asyncio.timeout(60):
        while len(editor.diagnostics) < FILES:
            editor.news.clear()
            await editor.news.wait()
    await asyncio.sleep(0.5)
