"""Kind MCP and the document MCPServer: tools of Model Context Protocol servers as steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import (
        Code,
        CommandSpec,
        Diagnostic,
        DocumentKind,
        Lazy,
        LockSection,
        PlanView,
        Setting,
        StepKind,
        Validator,
    )

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[Lazy]:
    """Kind MCP."""
    from tuvl_core import Lazy

    return [Lazy("MCP", _kind)]


@hookimpl
def tuvl_document_kinds() -> list[Lazy]:
    """The document MCPServer."""
    from tuvl_core import Lazy

    return [Lazy("MCPServer", _document)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """The codes that the kind's own checks can report."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=_check)]


@hookimpl
def tuvl_settings() -> list[Setting]:
    """Whether changed tools are let through, whether servers are asked at compile time, and proxies."""
    from tuvl_core import Setting

    return [
        Setting(
            name="mcp.allow_changed_tools",
            type=bool,
            default=False,
            help="Call a tool although its definition has changed since `tuvl lock`.",
        ),
        Setting(
            name="mcp.discover_s",
            type=float,
            default=3.0,
            minimum=0,
            help="Seconds for asking a server for the schemas of tools that `tuvl.lock` does not hold, before the "
            "first run of a workflow that gives them to an agent; 0: never ask.",
        ),
        Setting(
            name="mcp.trust_env",
            type=bool,
            default=False,
            help="Use the proxies and certificates that HTTP_PROXY, HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE name.",
        ),
    ]


@hookimpl(optionalhook=True)
def tuvl_cli_commands() -> list[CommandSpec]:
    """The command `tuvl mcp`."""
    from tuvl_core import CommandSpec

    return [
        CommandSpec(
            name="mcp", help="List and call the tools of MCP servers.", target="tuvl_kinds_mcp.commands:command"
        )
    ]


@hookimpl(optionalhook=True)
def tuvl_lock_sections() -> list[LockSection]:
    """The section `mcp` of `tuvl.lock`: the definitions of the tools that workflows call."""
    from tuvl_core import LockSection
    from tuvl_kinds_mcp.locking import collect

    return [LockSection(name="mcp", collect=collect)]


def _kind() -> type[StepKind]:
    from tuvl_kinds_mcp.kind import MCP

    return MCP


def _document() -> DocumentKind:
    from tuvl_core import DocumentKind
    from tuvl_kinds_mcp.config import MCPServerSpec

    return DocumentKind(kind="MCPServer", spec=MCPServerSpec)


def _codes() -> Sequence[Code]:
    from tuvl_kinds_mcp.checks import CODES

    return CODES


def _check(plan: PlanView) -> Iterable[Diagnostic]:
    if not plan.project.definitions("MCPServer"):
        return ()
    from tuvl_kinds_mcp.checks import check_servers

    return check_servers(plan)
