"""How values leave and how they are kept: the wire form, the lossless form, and `Secret`.

The wire form is what people, models and other programs see: strict JSON, one documented form for
each common type, secrets masked. The lossless form is what records keep: JSON from which the same
values come back, secrets as keyed hashes.
"""

from __future__ import annotations

from tuvl_core.codec.lossless import from_lossless, lossless_dumps, lossless_loads, register_lossless, to_lossless
from tuvl_core.codec.secret import MASK, SealedSecret, Secret
from tuvl_core.codec.wire import to_wire, too_deep, wire_dumps

__all__ = [
    "MASK",
    "SealedSecret",
    "Secret",
    "from_lossless",
    "lossless_dumps",
    "lossless_loads",
    "register_lossless",
    "to_lossless",
    "to_wire",
    "too_deep",
    "wire_dumps",
]
