"""What may be seen: the one public and masked view that every way out goes through."""

from __future__ import annotations

from tuvl_core.codec import MASK, SealedSecret, Secret
from tuvl_core.views.masking import contains_secret, mask, open_secrets, public_view, secret_texts
from tuvl_core.views.scrubbing import scrub
from tuvl_core.views.snapshot import SnapshotCache

__all__ = [
    "MASK",
    "SealedSecret",
    "Secret",
    "SnapshotCache",
    "contains_secret",
    "mask",
    "open_secrets",
    "public_view",
    "scrub",
    "secret_texts",
]
