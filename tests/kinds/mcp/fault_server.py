"""A small server that does what servers should not; plain JSON lines, so that it starts at once.

python fault_server.py [--banner] [--stubborn] [--slow SECONDS] [--exit-at-start CODE] [--mute] [--fork] [--odd-list]
"""

import json
import os
import signal
import subprocess
import sys
import time

STRING = {"type": "string"}
TOOLS = [
    {"name": "say", "description": "Answer with a result.", "inputSchema": {"type": "object"}},
    {
        "name": "echo",
        "description": "Give back what was sent.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What to say."},
                "n": {"type": "integer", "minimum": 0},
                "mode": {"enum": ["a", "b"]},
                "deep": {"$ref": "#/$defs/Deep"},
            },
            "required": ["text"],
            "$defs": {"Deep": {"type": "object", "properties": {"on": {"type": "boolean"}}}},
        },
    },
    *(
        {"name": name, "inputSchema": {"type": "object"}}
        for name in (
            "die",
            "last_words",
            "sleep",
            "big",
            "stray",
            "env",
            "pid",
            "change",
            "progress",
            "refuse",
            "ask",
            "mute_pipe",
            "raw",
        )
    ),
]


NOTHING = object()


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def call(id, name, given, params):
    if name == "say":
        return given["result"]
    if name == "echo":
        return text({"got": given})
    if name == "die":
        sys.stderr.write(f"first line\nfatal: the token {os.environ.get('TOKEN', '-')} is refused\n")
        sys.stderr.flush()
        os._exit(given.get("code", 1))
    if name == "last_words":
        send({"id": id, "result": text("just in time")})
        os._exit(0)
    if name == "raw":
        sys.stdout.write(given["line"].replace("ID", json.dumps(id)) + "\n")
        sys.stdout.flush()
        return NOTHING
    if name == "sleep":
        if "touch" in given:
            open(given["touch"], "w").close()
        time.sleep(given["seconds"])
        return text("slept")
    if name == "big":
        return {**text("y" * given["n"]), "isError": given.get("failed", False)}
    if name == "stray":
        print("DEBUG a line between messages", flush=True)
        print(json.dumps({"level": "info"}), flush=True)
        return text("fine")
    if name == "env":
        return text(dict(os.environ))
    if name == "pid":
        return text({"pid": os.getpid(), "cwd": os.getcwd()})
    if name == "change":
        TOOLS[1]["description"] = "Does something else."
        TOOLS[1]["inputSchema"]["properties"]["n"] = STRING
        send({"method": "notifications/tools/list_changed"})
        return text("changed")
    if name == "progress":
        send({"method": "notifications/message", "params": {"level": "info", "data": "at work"}})
        send({"method": "notifications/progress", "params": {"progressToken": "x", "progress": 1}})
        return text("done")
    if name == "ask":
        return {"resultType": "input_required", "inputRequests": {}, "requestState": "x"}
    if name == "mute_pipe":
        os.close(1)
        time.sleep(60)
    return None


def main():
    flags = sys.argv[1:]
    if "--slow" in flags:
        time.sleep(float(flags[flags.index("--slow") + 1]))
    if "--exit-at-start" in flags:
        sys.stderr.write("cannot start: no configuration\n")
        sys.exit(int(flags[flags.index("--exit-at-start") + 1]))
    if "--banner" in flags:
        print("*** Welcome to the server ***", flush=True)
    if "--stubborn" in flags:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for flag in flags:
        if flag.startswith("--describe="):
            TOOLS[0]["description"] = f"Say {flag.partition('=')[2]}."
    if "--fork" in flags:
        subprocess.Popen(["sleep", "977"])
    for line in sys.stdin:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if id is None or "--mute" in flags:
            continue
        params = message.get("params") or {}
        if method == "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                "serverInfo": {"name": "faults", "version": "1"},
            }
        elif method == "server/discover" and "--modern" in flags:
            result = {
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private",
            }  # fmt: skip
        elif method == "ping":
            result = {}
        elif method == "tools/list" and "--odd-list" in flags:
            result = {"tools": [{**TOOLS[0], "description": "half of \ud800"}]}
        elif method == "tools/list":
            result = {"tools": TOOLS, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        elif method == "tools/call":
            result = call(id, params["name"], params.get("arguments") or {}, params)
        else:
            result = None
        if result is NOTHING:
            continue
        if result is None:
            send({"id": id, "error": {"code": -32601, "message": f"no method {method}"}})
        else:
            send({"id": id, "result": {"resultType": "complete", **result} if "--modern" in flags else result})
    while "--stubborn" in flags:
        time.sleep(1)


main()
