"""Which package brings what, for messages about a name that nothing installed knows."""

from __future__ import annotations

from typing import Final

__all__ = ["BROUGHT_BY", "DOCUMENTS", "FIRST_PARTY", "STEP_KINDS"]

FIRST_PARTY: Final = frozenset(
    {
        "tuvl",
        "tuvl-auth",
        "tuvl-cli",
        "tuvl-console",
        "tuvl-core",
        "tuvl-graph",
        "tuvl-grpc",
        "tuvl-kinds-agent",
        "tuvl-kinds-apicall",
        "tuvl-kinds-functional",
        "tuvl-kinds-mcp",
        "tuvl-kinds-modelop",
        "tuvl-kinds-response",
        "tuvl-kinds-router",
        "tuvl-lsp",
        "tuvl-model-litellm",
        "tuvl-model-local",
        "tuvl-models",
        "tuvl-otel",
        "tuvl-redis",
        "tuvl-server",
        "tuvl-supervisor",
        "tuvl-testing",
    }
)
"""tuvl's own distributions, by exact name: a prefix would be anybody's to take."""

BROUGHT_BY: Final = {
    "APICall": "tuvl-kinds-apicall",
    "Agent": "tuvl-kinds-agent",
    "AgentModel": "tuvl-models",
    "AutonomousAgent": "tuvl-kinds-agent",
    "DataSource": "tuvl-kinds-modelop",
    "Functional": "tuvl-kinds-functional",
    "MCP": "tuvl-kinds-mcp",
    "MCPServer": "tuvl-kinds-mcp",
    "ModelDefinition": "tuvl-kinds-modelop",
    "ModelOp": "tuvl-kinds-modelop",
    "Response": "tuvl-kinds-response",
    "Router": "tuvl-kinds-router",
    "ScriptedModel": "tuvl-testing",
    "context": "tuvl-kinds-modelop",
    "supervisor": "tuvl-supervisor",
    "trigger": "tuvl-server",
}
"""Kinds, documents and sections, and the package each comes with."""

DOCUMENTS: Final = ("AgentModel", "DataSource", "MCPServer", "ModelDefinition", "ScriptedModel")
"""Which of these are kinds of documents."""

STEP_KINDS: Final = ("APICall", "Agent", "AutonomousAgent", "Functional", "MCP", "ModelOp", "Response", "Router")
"""Which of these are kinds of steps."""
