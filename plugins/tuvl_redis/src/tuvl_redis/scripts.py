"""What Redis does in one go."""

from __future__ import annotations

from typing import Final

__all__ = ["APPEND", "TAILS"]

APPEND: Final = """
local last = 0
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
if newest[1] then last = tonumber(string.match(newest[1][1], '^%d+')) end
if last == tonumber(ARGV[1]) and ARGV[4] then
  for i = 4, #ARGV, 3 do
    redis.call('XADD', KEYS[1], ARGV[i] .. '-0', 't', ARGV[i + 1], 'j', ARGV[i + 2])
    last = tonumber(ARGV[i])
  end
  redis.call('XTRIM', KEYS[1], 'MINID', ARGV[3] .. '-0')
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return last
"""
"""Appends events to a run's stream, unless the stream ends elsewhere than the writer believes.

An event's number is its id, so none can stand there twice or in the wrong order.

Arguments: the number of the last event that was written; milliseconds to live; the number of the oldest event to
keep; then number, type and text of each new event. Gives the number of the last event that is there: a writer whose
answer got lost goes on behind it, one whose stream got lost begins anew.
"""

TAILS: Final = """
local found = {}
for i = 1, #KEYS, 3 do
  local newest = redis.call('XREVRANGE', KEYS[i], '+', '-', 'COUNT', 1)
  local last = 0
  if newest[1] then last = tonumber(string.match(newest[1][1], '^%d+')) end
  local over = redis.call('HGET', KEYS[i + 1], 'over')
  found[#found + 1] = { last, over or '', redis.call('EXISTS', KEYS[i + 2]) }
end
return found
"""
"""How far runs have come: for each stream, record and worker the last event's number, whether the run is over, and
whether the worker lives."""
