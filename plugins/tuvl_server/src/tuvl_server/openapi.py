"""The routes as OpenAPI 3.1, with inputs as the workflows declare them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final

from tuvl_server.trigger import Trigger, path_names

__all__ = ["describe"]

Data = dict[str, Any]

_OBJECT: Final[Data] = {"type": "object"}
_TEXT: Final[Data] = {"type": "string"}
_TITLES: Final = {
    400: "a query or header that cannot be read",
    401: "nobody knows who is calling",
    403: "not allowed",
    404: "there is none, or none that the caller may see",
    413: "the body is too large",
    415: "the body is no JSON by its type",
    421: "not a name of this server",
    422: "the input does not fit",
    429: "too much runs already",
    500: "the run failed or stopped, with the run's object; or the server failed",
    503: "the server is about to end",
    504: "the run took longer than its `timeout_s`",
}
_READING: Final = (400, 401, 403, 404, 421)
_WRITING: Final = (*_READING, 413, 415, 422)
_RUNNING: Final = (*_WRITING, 429, 500, 503, 504)


def describe(workflows: Mapping[str, Any], root: str = "") -> Data:
    """Describe the server.

    Args:
        workflows: Definitions by name: those that the reader may run.
        root: What stands before every path, behind a proxy.
    """
    schemas: Data = {"Problem": _PROBLEM}
    paths: Data = _fixed_paths()
    for name, definition in workflows.items():
        schemas[f"input.{name}"] = _input(name, definition.spec.input)
        paths[f"/api/workflows/{name}/runs"] = {"post": _run(name, definition, True, public=False)}
        trigger: Trigger | None = definition.spec.sections.get("trigger")
        if trigger is not None:
            with_body = trigger.method not in ("GET", "DELETE")
            operation = _run(name, definition, with_body, public=trigger.public, trigger=trigger)
            paths.setdefault(trigger.path, {})[trigger.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "tuvl", "version": version("tuvl-server")},
        **({"servers": [{"url": root}]} if root else {}),
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "schemas": schemas,
        },
    }


_PROBLEM: Final[Data] = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "Stable: `urn:tuvl:problem:…`."},
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "errors": {"type": "array", "items": {"type": "object", "properties": {"path": _TEXT, "message": _TEXT}}},
    },
}


def _input(name: str, schema: Mapping[str, Any] | None) -> Data:
    given = dict(schema) if schema is not None else dict(_OBJECT)
    if "$ref" in str(given):
        # Its own references are to itself, not to this document.
        given.setdefault("$id", f"urn:tuvl:input:{name}")
    return given


def _run(name: str, definition: Any, with_body: bool, *, public: bool, trigger: Trigger | None = None) -> Data:
    schema = definition.spec.input or {}
    names = path_names(trigger.path) if trigger is not None else []
    parameters = [_parameter("path", key, _property(schema, key), True) for key in names]
    parameters.append(_parameter("query", "detach", {"type": "string", "enum": ["0", "1"]}, False))
    operation: Data = {
        "operationId": f"{'trigger' if trigger is not None else 'run'}.{name}",
        "summary": definition.metadata.description or f"Run {name}.",
        "parameters": parameters,
        "responses": _responses(_RUNNING, stream=True, later=True),
    }
    if with_body:
        content = {
            "application/json": {"schema": {"$ref": f"#/components/schemas/input.{name}"} if not names else _OBJECT}
        }
        operation["requestBody"] = {"required": bool(schema.get("required")) and not names, "content": content}
    else:
        required = schema.get("required") or ()
        known = schema.get("properties") if isinstance(schema.get("properties"), Mapping) else {}
        parameters += [
            _parameter("query", key, dict(value) if isinstance(value, Mapping) else {}, key in required)
            for key, value in (known or {}).items()
            if key not in names
        ]
    if public:
        operation["security"] = []
    return operation


def _property(schema: Mapping[str, Any], name: str) -> Data:
    known = schema.get("properties")
    found = known.get(name) if isinstance(known, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else dict(_TEXT)


def _parameter(place: str, name: str, schema: Data, required: bool) -> Data:
    return {"in": place, "name": name, "required": required, "schema": schema}


def _responses(statuses: tuple[int, ...], *, stream: bool = False, later: bool = False) -> Data:
    content: Data = {"application/json": {"schema": _OBJECT}}
    if stream:
        content["text/event-stream"] = {"schema": _TEXT}
    found: Data = {"200": {"description": "what was asked for", "content": content}}
    if later:
        # The workflow's Response sets the status of a run that completes.
        found["2XX"] = {"description": "the status of the workflow's Response", "content": content}
        found["202"] = {"description": "it runs; see `Location`", "content": {"application/json": {"schema": _OBJECT}}}
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status in statuses:
        mixed = {**problem, "application/json": {"schema": _OBJECT}} if status >= 500 else problem
        found[str(status)] = {"description": _TITLES[status], "content": mixed}
    return found


def _operation(id: str, summary: str, *, body: Data | None = None, query: Data | None = None, of: str = "") -> Data:
    parameters = [_parameter("path", of, dict(_TEXT), True)] if of else []
    parameters += [_parameter("query", key, value, False) for key, value in (query or {}).items()]
    operation: Data = {"operationId": id, "summary": summary, "parameters": parameters}
    operation["responses"] = _responses(_WRITING if body is not None else _READING)
    if body is not None:
        schema = {"type": "object", "properties": body, "additionalProperties": False}
        operation["requestBody"] = {"required": False, "content": {"application/json": {"schema": schema}}}
    return operation


def _fixed_paths() -> Data:
    reason: Data = {"type": "string", "maxLength": 1000}
    once: Data = {"type": "string", "description": "Makes it the same directive when it is sent again."}
    message: Data = {"type": "string", "minLength": 1, "maxLength": 8000, "pattern": "\\S"}
    after: Data = {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}
    steer = _operation(
        "agents.steer", "Give guidance for the next turn.", of="id", body={"message": message, "id": once}
    )
    steer["requestBody"]["required"] = True
    steer["requestBody"]["content"]["application/json"]["schema"]["required"] = ["message"]
    events = _operation("runs.events", "A run's events, to its end.", of="id", query={"after": after})
    events["responses"]["200"]["content"] = {"text/event-stream": {"schema": _TEXT}}
    force = {"id": once, "reason": reason, "force": {"type": "boolean"}}
    paths = {
        "/healthz": ("get", _operation("healthz", "Whether the process answers.")),
        "/readyz": ("get", _operation("readyz", "Whether it takes new runs.")),
        "/api/workflows": ("get", _operation("workflows", "The workflows that you may run.")),
        "/api/runs": ("get", _operation("runs", "The runs that you may see.", query={"workflow": _TEXT})),
        "/api/runs/{id}": ("get", _operation("runs.show", "One run.", of="id")),
        "/api/runs/{id}/events": ("get", events),
        "/api/runs/{id}/abort": ("post", _operation("runs.abort", "Cancel a run.", of="id", body={"reason": reason})),
        "/api/agents/runs": ("get", _operation("agents", "The agents that run right now.")),
        "/api/agents/runs/{id}": ("get", _operation("agents.show", "One of them.", of="id")),
        "/api/agents/runs/{id}/trace": ("get", _operation("agents.trace", "What it has done so far.", of="id")),
        "/api/agents/runs/{id}/pause": ("post", _operation("agents.pause", "Wait.", of="id", body={"id": once})),
        "/api/agents/runs/{id}/resume": ("post", _operation("agents.resume", "Go on.", of="id", body={"id": once})),
        "/api/agents/runs/{id}/steer": ("post", steer),
        "/api/agents/runs/{id}/abort": ("post", _operation("agents.abort", "End it.", of="id", body=force)),
    }
    for path in ("/healthz", "/readyz"):
        paths[path][1]["security"] = []
    paths["/readyz"][1]["responses"]["503"] = {"description": _TITLES[503], "content": {"application/json": {}}}
    return {path: {method: operation} for path, (method, operation) in paths.items()}
