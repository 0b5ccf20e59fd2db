"""Serve the refund desk with the operator console, and start a supervised run to watch there.

python serve.py                     on 127.0.0.1:8885, until Ctrl-C
python serve.py --port 9000         what follows goes to `tuvl serve`
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from demo import DEFAULT_TICKET, HERE, TUVL, choose_model, stock_shop, surroundings


def main(arguments: list[str]) -> int:
    """Serve until Ctrl-C; gives the exit code of `tuvl serve`."""
    model, reason = choose_model(surroundings())
    print(f"model   {model} ({reason})", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MODEL": model, "SHOP_DB": str(Path(folder, "shop.db")), "PYTHON": sys.executable}
        return serve(arguments, environment) if stock_shop(environment) else 1


def serve(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Start the server; once it says where it is, start a run."""
    command = [*TUVL, "serve", "--dev", *arguments]
    process = subprocess.Popen(
        command, env={**environment, "PYTHONUNBUFFERED": "1"}, cwd=HERE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    while True:
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                if found := re.match(r"serving on (http://[^,\s]+)", line):
                    threading.Thread(target=begin, args=(found[1],), daemon=True).start()
            return process.wait()
        except KeyboardInterrupt:
            continue  # the server hears Ctrl-C itself, and drains


def begin(url: str) -> None:
    """Start a run that goes on by itself, and say where to watch it."""
    ticket = (HERE / "tickets" / f"{DEFAULT_TICKET}.json").read_bytes()
    headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
    request = urllib.request.Request(f"{url}/api/workflows/refund_desk/runs", ticket, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            run = json.load(answer)
    except urllib.error.URLError as error:
        print(f"the run could not be started: {error}", file=sys.stderr)
        return
    print(f"watch   {url}/console/runs/{run['run_id']}\nall     {url}/console\n        Ctrl-C ends it", flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
