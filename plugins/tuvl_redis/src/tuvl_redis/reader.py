"""What Redis knows of all workers, each answer of one tenant."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import attrs

from tuvl_core import RecordedEvent, StepEvent
from tuvl_redis.config import usable
from tuvl_redis.link import Link, heeding

__all__ = ["Found", "Reader"]

_PAGE: Final = 200
_MOST_ITEMS: Final = 1000
_AT_ONCE: Final = 50
_MOST_BYTES: Final = 8_000_000
_FIELDS: Final = ("tenant", "subject", "worker", "over", "seen", "json")


@attrs.frozen
class Found:
    """A run as Redis knows it.

    Attributes:
        worker: Whose run it is.
        over: Whether it has ended, by what its worker said.
        lost: Whether its worker is gone and left it running.
        record: The run in the form of `RunRecord.to_dict`.
    """

    worker: str
    over: bool
    lost: bool
    record: dict[str, Any]


class Reader:
    """Looks things up; every method raises one of `AWAY` where Redis does not answer.

    Args:
        link: Redis.
        worker: This worker's id.
    """

    def __init__(self, link: Link, worker: str) -> None:
        self._keys = link.config.keys
        self._worker = worker
        self._client: Any = link.client(8)  # its stubs allow for text, which it never gives

    async def loops(self, tenant: str | None) -> list[dict[str, Any]]:
        """Snapshots of the loops of other workers."""
        index = self._keys.loops(tenant)
        found = []
        for ids, texts in await self._items(index, self._keys.loop):
            gone = [id for id, text in zip(ids, texts, strict=True) if text is None]
            if gone:
                await self._client.zrem(index, *gone)
            found += [item for text in texts if text is not None and (item := _loop(text, tenant)) is not None]
        return [item["loop"] for item in found if item["worker"] != self._worker]

    async def _items(self, index: str, key: Any) -> list[tuple[list[str], list[bytes | None]]]:
        ids = await self._ids(index)
        pages = [ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE)]
        return [(page, await self._client.mget([key(id) for id in page])) for page in pages]

    async def _ids(self, index: str) -> list[str]:
        """The latest ids of an index; clocks of workers may differ by a minute."""
        await self._client.zremrangebyscore(index, "-inf", time.time() - 60)
        found = await self._client.zrevrange(index, 0, _MOST_ITEMS - 1)
        return [id.decode("utf-8", "replace") for id in found]

    async def worker_of_loop(self, id: str, tenant: str | None) -> str | None:
        """The worker that has a loop of this tenant."""
        text = await self._client.get(self._keys.loop(id)) if usable(id) else None
        item = _loop(text, tenant) if text is not None else None
        return str(item["worker"]) if item is not None else None

    async def runs(self, tenant: str | None, subject: str | None) -> list[dict[str, Any]]:
        """Records of runs: at most 1000 and 8 MB of them, the latest; this worker's own only where they are over."""
        ids = await self._ids(self._keys.runs(tenant))
        found: list[dict[str, Any]] = []
        size, lives = 0, {self._worker: True}
        for start in range(0, len(ids), _AT_ONCE):
            pipeline = self._client.pipeline(transaction=False)
            for id in ids[start : start + _AT_ONCE]:
                pipeline.hmget(self._keys.run(id), _FIELDS)
            for fields in await pipeline.execute():
                run = await self._found(fields, tenant, subject, lives)
                if run is not None and (run.over or run.worker != self._worker):
                    found.append(run.record)
                size += len(fields[-1] or b"")
            if size > _MOST_BYTES:
                break
        return found

    async def run(self, run_id: str, tenant: str | None, subject: str | None) -> Found | None:
        """One run."""
        if not usable(run_id):
            return None
        fields = await self._client.hmget(self._keys.run(run_id), _FIELDS)
        return await self._found(fields, tenant, subject, {self._worker: True})

    async def _found(
        self, fields: list[bytes | None], tenant: str | None, subject: str | None, lives: dict[str, bool]
    ) -> Found | None:
        if any(field is None for field in fields):
            return None
        texts = dict(zip(_FIELDS, (field.decode("utf-8", "replace") for field in fields if field), strict=False))
        if len(texts) < len(_FIELDS):
            return None
        try:
            whose, record, seen = json.loads(texts["tenant"]), json.loads(texts["json"]), float(texts["seen"])
        except ValueError:
            return None
        if whose != tenant or (subject is not None and texts["subject"] != subject) or not isinstance(record, dict):
            return None
        worker, over = texts["worker"], texts["over"] == "1"
        if not over and worker not in lives:
            lives[worker] = bool(await self._client.exists(self._keys.worker(worker)))
        lost = not over and not lives[worker]
        return Found(worker, over, lost, lost_record(record, seen) if lost else record)

    async def page(self, run_id: str, after: int) -> list[RecordedEvent]:
        """The next events of a run, at most 200."""
        entries = await self._client.xrange(self._keys.events(run_id), f"({max(after, 0)}-0", "+", count=_PAGE)
        return [_event(id, fields) for id, fields in entries or []]

    async def kept(self, run_id: str, after: int) -> AsyncIterator[RecordedEvent]:
        """The events of a run that are there now."""
        while page := await heeding(self.page(run_id, after)):
            for event in page:
                yield event
            after = page[-1].seq


def _loop(text: bytes, tenant: str | None) -> dict[str, Any] | None:
    try:
        item = json.loads(text)
    except ValueError:
        return None
    if not isinstance(item, dict) or item.get("tenant", 0) != tenant or not isinstance(item.get("loop"), dict):
        return None
    return item if isinstance(item.get("worker"), str) else None


def _event(id: bytes, fields: Mapping[bytes, bytes]) -> RecordedEvent:
    seq = int(id.partition(b"-")[0])
    return RecordedEvent(seq, fields.get(b"t", b"").decode("utf-8", "replace"), fields[b"j"].decode("utf-8", "replace"))


def lost_record(record: dict[str, Any], seen: float) -> dict[str, Any]:
    """A run whose worker is gone: failed, at the time at which the worker was heard of last."""
    error = {
        "type": "worker_lost",
        "message": "the worker that ran it is gone: it was killed, or has no way to Redis",
        "step": record.get("last_step"),
    }
    ended = datetime.fromtimestamp(seen, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {**record, "status": "failed", "ended": ended, "error": error}


def lost_event(record: Mapping[str, Any], after: int) -> RecordedEvent:
    """The last event of a run whose worker is gone, for readers to end by."""
    outcome = {key: record.get(key) for key in ("status", "result", "error", "usage")}
    event = StepEvent(
        type="run",
        run_id=str(record.get("run_id")),
        seq=after + 1,
        time=time.time(),
        workflow=str(record.get("workflow")),
        step_id=record.get("last_step"),
        visit=None,
        kind=None,
        signal=record.get("signal"),
        outcome=outcome,
    )
    return RecordedEvent(event.seq, event.type, event.to_json())
