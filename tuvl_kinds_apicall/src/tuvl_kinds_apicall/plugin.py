"""Kind APICall: one HTTP request as a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Code, Lazy, Setting, StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[Lazy]:
    """Kind APICall."""
    from tuvl_core import Lazy

    return [Lazy("APICall", _kind)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """The codes that the kind's own checks can report."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=lambda plan: ())]


@hookimpl
def tuvl_settings() -> list[Setting]:
    """Which hosts values may choose, and whether proxies of the environment are used."""
    from tuvl_core import Setting

    return [
        Setting(
            name="apicall.allow_hosts",
            type=tuple,
            default=(),
            help="Hosts that a templated URL may lead to: `api.example.com`, with a port "
            "`localhost:8080`, or all below a domain `*.example.com`. A host that is named in full "
            "may have a private address.",
        ),
        Setting(
            name="apicall.trust_env",
            type=bool,
            default=False,
            help="Use the proxies and certificates that HTTP_PROXY, HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE name.",
        ),
        Setting(
            name="apicall.max_connections",
            type=int,
            default=100,
            minimum=1,
            help="How many connections the process keeps open at once; further requests wait.",
        ),
    ]


def _kind() -> type[StepKind]:
    from tuvl_kinds_apicall.kind import APICall

    return APICall


def _codes() -> Sequence[Code]:
    from tuvl_kinds_apicall.checks import CODES

    return CODES
