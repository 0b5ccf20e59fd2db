"""Kind APICall: what becomes of answers."""

from __future__ import annotations

import gzip
import json
import time
import zlib

import pytest

STATUS = "_api_status_code"


def page(server, body=b"", status=200, **headers):
    return server.on("/x", lambda h: h.answer(status, body, **headers))


@pytest.mark.parametrize(
    ("body", "type_", "value"),
    [
        (b'{"a": 1}', "application/json", {"a": 1}),
        (b'{"a": 1}', "application/problem+json", {"a": 1}),
        (b'{"a": 1}', "APPLICATION/HAL+JSON; charset=utf-8", {"a": 1}),
        (b"null", "application/json", None),
        (b"", "application/json", None),
        (b"  \n", "application/json", None),
        (b'\xef\xbb\xbf{"a": 1}', "application/json", {"a": 1}),
        ('{"a": "ü"}'.encode("utf-16"), "application/json", {"a": "ü"}),
        ('{"a": "ü"}'.encode("latin-1"), "application/json; charset=iso-8859-1", {"a": "ü"}),
        ('{"a": "ü"}'.encode(), "application/json; charset=iso-8859-1", {"a": "ü"}),
        (b'{"a": 1}', "", {"a": 1}),
        (b"12", "", 12),
        (b"hello", "", "hello"),
        (b"", "", None),
        (b'{"a": 1}', "text/plain", '{"a": 1}'),
        ("grüß".encode(), "text/plain; charset=latin-1", "grüß"),
        ("grüß".encode("latin-1"), "text/plain; charset=latin-1", "grüß"),
        ("grüß".encode("latin-1"), "text/plain", "grüß"),
        ("grüß".encode("utf-16"), "text/plain", "grüß"),
        ("grüß".encode("utf-16-le"), "text/plain; charset=utf-16-le", "grüß"),
        (b"x", "text/plain; charset=nonsense", "x"),
        (b"x", "text/plain; charset=zip", "x"),
        (b"<a/>", "application/xml", "<a/>"),
        (b"a,b", "application/vnd.acme", "a,b"),
        (b"\x89PNG\r\n", "image/png", b"\x89PNG\r\n"),
        (b"abc", "application/octet-stream", b"abc"),
        (b"\x00\x01", "application/vnd.acme", b"\x00\x01"),
        (b"\xff\xfe\x00", "", b"\xff\xfe\x00"),
    ],
)
async def test_a_body_becomes_a_value(api, server, body, type_, value):
    outcome = await api(page(server, body, Content_Type=type_))
    assert outcome.signals == ["default"], outcome.error
    assert outcome.context["call_result"] == value or body == b"\xff\xfe\x00"
    assert outcome.context[STATUS] == 200


@pytest.mark.parametrize("status", [204, 205, 304])
async def test_answers_without_a_body_are_null(api, server, status):
    outcome = await api(page(server, status=status, Content_Type="application/json", Content_Length=""))
    assert outcome.signals == ["default"]
    assert outcome.context["call_result"] is None
    assert outcome.context[STATUS] == status


async def test_head_has_no_body(api, server):
    url = page(server, b'{"a": 1}', Content_Type="application/json", Content_Encoding="gzip")
    assert (await api(url, method="HEAD")).context["call_result"] is None


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Login</body></html>",
        b'{"a": 1',
        b'{"a": NaN}',
        b"{'a': 1}",
        b"[" * 100_000,
        b"[" * 300 + b"]" * 300,
        b"\xff\xff",
        b"1" * 10_000,
        b'{"a": 1} trailing',
    ],
)
async def test_a_json_type_that_is_no_json(api, server, body):
    outcome = await api(page(server, body, Content_Type="application/json"))
    assert outcome.signals == ["error"]
    assert outcome.error_type == "bad_response"
    for part in ("'call'", "200", "application/json"):
        assert part in outcome.error
    assert len(outcome.error) < 800
    assert "call_result" not in outcome.context
    assert outcome.context[STATUS] == 200


@pytest.mark.parametrize("status", [400, 401, 404, 418, 429, 500, 502, 503, 599])
async def test_a_status_of_400_or_more(api, server, status):
    outcome = await api(page(server, b"<h1>Bad  \n Gateway</h1>" * 100, status, Content_Type="text/html"))
    assert outcome.signals == ["error"]
    assert outcome.error_type == "http_status"
    for part in ("'call'", str(status), "text/html", "127.0.0.1", "Bad Gateway"):
        assert part in outcome.error
    assert len(outcome.error) < 800
    assert outcome.context[STATUS] == status


@pytest.mark.parametrize("body", [b"", b"\x00\x01\x02", b"\xff" * 500, b"a\x1b[31mred\r\nb\x07"])
async def test_an_excerpt_is_one_line_of_text(api, server, body):
    outcome = await api(page(server, body, 500))
    assert outcome.error_type == "http_status"
    assert outcome.error.isprintable()


async def test_an_unfollowed_redirect_is_an_answer(api, server):
    outcome = await api(page(server, b"moved", 302, Location="/y", Content_Type="text/plain"))
    assert outcome.signals == ["default"]
    assert (outcome.context["call_result"], outcome.context[STATUS]) == ("moved", 302)
    assert len(server.seen) == 1


# --- outputs --------------------------------------------------------------------------------

BODY = json.dumps({"data": {"items": [{"id": 7}], "0": "zero"}, "total": "10.10", "none": None})


async def test_output_key_and_extract(api, server):
    url = page(server, BODY, Content_Type="application/json")
    extract = [
        {"path": "data.items.0.id", "as": "first"},
        {"path": "data.0", "as": "zero"},
        {"path": "none", "as": "none"},
    ]
    outcome = await api(url, response={"output_key": "order", "extract": extract})
    assert outcome.result.context == {
        "order": json.loads(BODY),
        "first": 7,
        "zero": "zero",
        "none": None,
    }


@pytest.mark.parametrize("path", ["data.items.1.id", "data.items.id", "missing", "total.x", "none.x"])
async def test_a_path_that_leads_nowhere_names_it_and_keeps_the_answer(api, server, path):
    url = page(server, BODY, Content_Type="application/json")
    outcome = await api(url, response={"extract": [{"path": path, "as": "x"}]})
    assert outcome.error_type == "bad_response"
    assert path in outcome.error
    assert "x" not in outcome.context
    assert outcome.context["call_result"] == json.loads(BODY)


# --- size and packing -----------------------------------------------------------------------


async def test_the_size_has_a_limit(api, server):
    url = page(server, b"x" * 1000, Content_Type="text/plain")
    assert (await api(url, max_bytes=1000)).signals == ["default"]
    outcome = await api(url, max_bytes=999)
    assert outcome.error_type == "too_large"
    assert "999" in outcome.error
    assert outcome.context[STATUS] == 200


async def test_a_body_of_unknown_length_is_cut_off_while_it_comes(api, server):
    sent = 0

    def endless(h):
        nonlocal sent
        h.answer(200, b"", Content_Length="", Content_Type="text/plain", Connection="close")
        h.close_connection = True
        while sent < 200_000_000:
            h.wfile.write(b"x" * 65536)
            sent += 65536

    outcome = await api(server.on("/x", endless), max_bytes=100_000)
    assert outcome.error_type == "too_large"
    assert sent < 50_000_000


def packed(body, coding):
    if coding == "gzip":
        return gzip.compress(body)
    if coding == "deflate":
        return zlib.compress(body)
    raw = zlib.compressobj(wbits=-15)
    return raw.compress(body) + raw.flush()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw"])
async def test_packed_bodies(api, server, coding):
    label = "gzip" if coding == "gzip" else "deflate"
    body = packed(json.dumps({"a": list(range(5000))}).encode(), coding)
    outcome = await api(page(server, body, Content_Type="application/json", Content_Encoding=label))
    assert outcome.context["call_result"] == {"a": list(range(5000))}


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw"])
async def test_the_limit_counts_after_unpacking(api, server, coding):
    label = "gzip" if coding == "gzip" else "deflate"
    body = packed(b"0" * 300_000_000, coding)
    assert len(body) < 1_000_000
    began = time.monotonic()
    outcome = await api(page(server, body, Content_Encoding=label), max_bytes=1_000_000)
    assert outcome.error_type == "too_large"
    assert time.monotonic() - began < 20


async def test_members_of_an_archive_count_together(api, server):
    body = gzip.compress(b"0" * 600) * 2
    url = page(server, body, Content_Encoding="gzip", Content_Type="text/plain")
    assert (await api(url, max_bytes=1200)).context["call_result"] == "0" * 1200
    assert (await api(url, max_bytes=1199)).error_type == "too_large"


async def test_empty_members_without_end_are_no_way_around(api, server):
    body = gzip.compress(b"") * 200_000
    outcome = await api(page(server, body, Content_Encoding="gzip"), max_bytes=1000)
    assert outcome.error_type == "too_large"


@pytest.mark.parametrize(
    ("body", "coding", "part"),
    [
        (gzip.compress(b"x" * 5000, mtime=0)[:-9], "gzip", "cut off"),
        (gzip.compress(b"x" * 5000, mtime=0)[:20] + b"\xff" * 60, "gzip", "broken"),
        (b"x", "br", "br"),
        (gzip.compress(gzip.compress(b"x")), "gzip, gzip", "gzip, gzip"),
    ],
    ids=["short", "broken", "unknown", "nested"],
)
async def test_what_cannot_be_unpacked_is_an_error(api, server, body, coding, part):
    outcome = await api(page(server, body, Content_Encoding=coding, Content_Type="text/plain"))
    assert outcome.error_type == "bad_response"
    assert part in outcome.error
    assert "200" in outcome.error


async def test_a_label_without_packing_is_overlooked(api, server):
    outcome = await api(page(server, b'{"a":1}', Content_Encoding="gzip", Content_Type="application/json"))
    assert outcome.context["call_result"] == {"a": 1}


# --- transport ------------------------------------------------------------------------------


async def test_a_server_that_is_not_there(api):
    outcome = await api("http://127.0.0.1:1/x?key=s3cr3t-2")
    assert outcome.signals == ["error"]
    assert outcome.error_type == "connection"
    assert "127.0.0.1:1" in outcome.error
    assert "refused" in outcome.error
    assert outcome.context[STATUS] is None


async def test_a_name_that_is_unknown(api):
    outcome = await api("http://no-such-host.invalid/")
    assert outcome.error_type == "connection"
    assert "no-such-host.invalid" in outcome.error


async def test_a_connection_that_breaks_off(api, server):
    def half(h):
        h.answer(200, b"half", Content_Length="1000", Content_Type="text/plain")
        h.close_connection = True

    outcome = await api(server.on("/x", half))
    assert outcome.error_type == "connection"


async def test_a_server_that_speaks_something_else(api, server):
    def noise(h):
        h.wfile.write(b"SSH-2.0-noise\r\n")
        h.close_connection = True

    assert (await api(server.on("/x", noise))).error_type == "connection"


@pytest.mark.parametrize("slow", ["head", "body"])
async def test_a_slow_server(api, server, slow):
    def late(h):
        if slow == "head":
            time.sleep(2)
            return
        h.answer(200, b"x", Content_Length="100", Content_Type="text/plain")
        for _ in range(30):
            h.wfile.write(b"x")
            h.wfile.flush()
            time.sleep(0.1)

    began = time.monotonic()
    outcome = await api(server.on("/x", late), timeout=0.3)
    assert outcome.error_type == "timeout"
    assert time.monotonic() - began < 1.9


async def test_the_status_of_an_earlier_call_does_not_stay(api, server, bench):
    url = page(server, b"{}", Content_Type="application/json")
    steps = [api.step(url), {**api.step("http://127.0.0.1:1/"), "id": "two"}]
    outcome = await bench.run(*steps)
    assert outcome.signals == ["default", "error"]
    assert outcome.context[STATUS] is None


# --- secrets --------------------------------------------------------------------------------


async def test_secrets_reach_neither_errors_nor_logs(api, server, caplog):
    caplog.set_level("DEBUG")

    def echo(h):
        h.answer(
            400,
            f"you sent {h.headers['Authorization']} to {h.path}: {h.headers['X-Api-Key']}",
            Content_Type="text/plain",
            Set_Cookie="session=s3cr3t-5",
        )

    api.bench.environ["TOKEN"] = "s3cr3t-4"
    outcome = await api(
        server.on("/x", echo) + "?key=s3cr3t-2",
        headers={"Authorization": "Bearer s3cr3t-1", "X-Api-Key": "${TOKEN}"},
        params={"token": "s3cr3t-3"},
    )
    assert outcome.error_type == "http_status"
    assert "400" in outcome.error
    assert "127.0.0.1" in outcome.error
    for text in (outcome.error, caplog.text, json.dumps(outcome.result.to_dict())):
        assert "s3cr3t" not in text


async def test_a_secret_value_is_sent_and_never_shown(api, server, caplog):
    from tuvl_core import Secret

    caplog.set_level("DEBUG")
    url = server.on("/x", lambda h: h.answer(403, f"no: {h.path} {h.headers['X-A']}"))
    context = {"key": Secret("hush-hush-1"), "pin": Secret("4711x")}
    outcome = await api(
        url + "?q={{ key }}", context, headers={"X-A": "id {{ pin }}"}, method="POST", json={"k": "{{ key }}"}
    )
    (seen,) = server.seen
    assert seen.path.endswith("q=hush-hush-1")
    assert seen.headers["X-A"] == "id 4711x"
    assert json.loads(seen.body) == {"k": "hush-hush-1"}
    for text in (outcome.error, caplog.text, json.dumps(outcome.result.to_dict())):
        assert "hush" not in text
        assert "4711" not in text


async def test_a_secret_at_the_cut_of_an_excerpt_is_not_halved(api, server):
    url = server.on("/x", lambda h: h.answer(400, "y " * 246 + "s3cr3t-word-1"))
    outcome = await api(url, headers={"Authorization": "s3cr3t-word-1"})
    assert "s3cr" not in outcome.error
