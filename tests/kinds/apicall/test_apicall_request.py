"""Kind APICall: what is sent."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

ANY = dict.fromkeys(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])


@pytest.fixture
def url(server):
    return server.on("*", lambda h: h.json({"ok": True})).rstrip("/")


@pytest.mark.parametrize("method", ANY)
async def test_methods(api, server, url, method):
    outcome = await api(f"{url}/x", method=method)
    assert outcome.signals == ["default"]
    assert [seen.method for seen in server.seen] == [method]


def test_an_unknown_method_is_refused(api):
    assert api.bench.codes(api.step("http://h/", method="FETCH"))


HOSTILE = [
    "a/b",
    "../admin",
    "x?admin=1",
    "x#y",
    "x&a=b",
    "ä ö",
    "100%",
    "%2e%2e",
    "a;b",
    "a\r\nX: y",
    "\\x",
    "+",
    "'\"<>",
]


@pytest.mark.parametrize("value", HOSTILE)
async def test_a_value_stays_one_path_segment(api, server, url, value):
    await api(f"{url}/orders/{{{{ id }}}}/lines", {"id": value})
    (seen,) = server.seen
    segments = seen.path.split("/")
    assert len(segments) == 4
    assert (segments[1], unquote(segments[2]), segments[3]) == ("orders", value, "lines")
    assert "?" not in seen.path


@pytest.mark.parametrize("value", HOSTILE)
async def test_a_value_stays_one_query_value(api, server, url, value):
    await api(f"{url}/search?q={{{{ q }}}}&limit=5", {"q": value}, params={"tag": "{{ q }}"})
    (seen,) = server.seen
    pairs = parse_qsl(urlsplit(seen.path).query, keep_blank_values=True)
    assert pairs == [("q", value), ("limit", "5"), ("tag", value)]


@pytest.mark.parametrize("value", ["", ".", "..", None, [], ["a"], {"a": 1}, b"x"])
async def test_a_value_that_would_make_another_path_is_refused(api, server, url, value):
    outcome = await api(f"{url}/orders/{{{{ id }}}}", {"id": value}, method="DELETE")
    assert outcome.signals == ["error"]
    assert outcome.error_type == "bad_request"
    assert server.seen == []


async def test_a_dot_as_a_part_of_a_segment_is_fine(api, server, url):
    await api(f"{url}/v{{{{ n }}}}/a-{{{{ x }}}}", {"n": 1.5, "x": ".."})
    assert server.seen[0].path == "/v1.5/a-.."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (True, "true"),
        (Decimal("10.10"), "10.10"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    ],
)
async def test_plain_values_have_one_text_everywhere(api, server, url, value, text):
    await api(
        f"{url}/{{{{ x }}}}?q={{{{ x }}}}",
        {"x": value},
        params={"p": "{{ x }}"},
        headers={"X-V": "{{ x }}"},
        method="POST",
        form={"f": "{{ x }}"},
    )
    (seen,) = server.seen
    assert seen.path == f"/{text}?q={text}&p={text}"
    assert seen.headers["X-V"] == text
    assert seen.body == f"f={text}".encode()


async def test_params_and_forms_repeat_lists_and_leave_null_out(api, server, url):
    values = {"a": "{{ many }}", "b": "{{ none }}", "c": 1, "d": "x y&z", "e": ["1", None, 2], "f": False}
    context = {"many": [1, "2"], "none": None}
    await api(f"{url}/x", context, params=values, method="POST", form=values)
    (seen,) = server.seen
    expected = [("a", "1"), ("a", "2"), ("c", "1"), ("d", "x y&z"), ("e", "1"), ("e", "2"), ("f", "false")]
    assert parse_qsl(urlsplit(seen.path).query) == expected
    assert parse_qsl(seen.body.decode()) == expected
    assert seen.headers["Content-Type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize("value", [3, None, ["a", {"b": 1}], True, "3", {"x": None}, 1.5])
async def test_a_lone_template_keeps_its_type_in_json(api, server, url, value):
    await api(f"{url}/x", {"qty": value}, method="POST", json={"qty": "{{ qty }}", "n": {"m": ["{{ qty }}"]}})
    (seen,) = server.seen
    assert json.loads(seen.body) == {"qty": value, "n": {"m": [value]}}
    assert seen.headers["Content-Type"] == "application/json"


async def test_json_has_the_wire_form_and_a_body_of_its_own(api, server, url):
    context = {"total": Decimal("10.10"), "id": uuid.UUID(int=1), "all": {"a": ["ü"]}}
    await api(f"{url}/x", context, method="POST", json="{{ all }}")
    await api(f"{url}/x", context, method="PUT", json={"t": "{{ total }}", "i": "{{ id }}"})
    assert server.seen[0].body == '{"a":["ü"]}'.encode()
    assert json.loads(server.seen[1].body) == {"t": "10.10", "i": str(uuid.UUID(int=1))}


async def test_what_has_no_wire_form_is_an_error_that_names_it(api, server, url):
    outcome = await api(f"{url}/x", {"o": object()}, method="POST", json={"deep": ["{{ o }}"]})
    assert outcome.error_type == "bad_request"
    assert "deep" in outcome.error
    assert server.seen == []


async def test_a_body_of_text_or_bytes(api, server, url):
    await api(f"{url}/x", {"t": "grüß", "b": b"\xff\x00"}, method="POST", body="<a>{{ t }}</a>")
    await api(f"{url}/x", {"b": b"\xff\x00"}, method="POST", body="{{ b }}", headers={"Content-Type": "x/y"})
    outcome = await api(f"{url}/x", {"b": {"a": 1}}, method="POST", body="{{ b }}")
    assert [seen.body for seen in server.seen] == ["<a>grüß</a>".encode(), b"\xff\x00"]
    assert server.seen[1].headers["Content-Type"] == "x/y"
    assert "http.json" in outcome.error


async def test_a_value_is_data_and_not_looked_at_again(api, server, url):
    await api(f"{url}/x", {"a": "{{ b }}", "b": "secret"}, headers={"X-A": "{{ a }}"}, method="POST", json="{{ a }}")
    assert server.seen[0].headers["X-A"] == "{{ b }}"
    assert json.loads(server.seen[0].body) == "{{ b }}"


@pytest.mark.parametrize("place", ["path", "query", "header", "json", "form", "params"])
async def test_an_undefined_name_is_an_error_and_nothing_is_sent(api, server, url, place):
    http = {
        "path": {"url": f"{url}/orders/{{{{ order.id }}}}"},
        "query": {"url": f"{url}/?q={{{{ order.id }}}}"},
        "header": {"url": url, "headers": {"X": "{{ order.id }}"}},
        "json": {"url": url, "json": ["{{ order.id }}"]},
        "form": {"url": url, "form": {"a": "{{ order.id }}"}},
        "params": {"url": url, "params": {"a": "{{ order.id }}"}},
    }[place]
    outcome = await api(context={"order": {}}, **http)
    assert outcome.error_type == "undefined_name"
    assert "order.id" in outcome.error
    assert "call" in outcome.error
    assert server.seen == []


async def test_a_declared_default_is_used(api, server, url):
    await api(f"{url}/orders/{{{{ order_id | default('none') }}}}")
    assert server.seen[0].path == "/orders/none"


# --- headers --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\x0bb", "a\x7f"])
async def test_a_value_cannot_end_a_header(api, server, url, value):
    outcome = await api(url, {"v": value}, headers={"X-A": "{{ v }}"})
    assert outcome.error_type == "bad_request"
    assert "X-A" in outcome.error
    assert "Evil" not in outcome.error
    outcome = await api(url, {"v": value}, method="POST", idempotency_key="{{ v }}")
    assert outcome.error_type == "bad_request"
    assert server.seen == []


async def test_header_values(api, server, url):
    headers = {"X-Pad": "  {{ v }}  ", "X-Latin": "é", "X-Wide": "日", "X-None": "{{ none }}", "X-N": 5}
    await api(url, {"v": "x", "none": None}, headers=headers)
    (seen,) = server.seen
    assert seen.headers["X-Pad"] == "x"
    assert seen.headers["X-Latin"] == "é"
    assert seen.headers["X-Wide"].encode("latin-1").decode() == "日"
    assert seen.headers["X-N"] == "5"
    assert "X-None" not in seen.headers


async def test_no_header_comes_from_anywhere_else(api, server, url):
    await api(url)
    assert set(server.seen[0].headers) == {"Host", "Connection", "User-Agent", "Accept", "Accept-Encoding"}


async def test_credentials_in_the_url(api, server):
    url = server.on("/x", lambda h: h.json({})).replace("://", "://us%40er:p%3Aw@")
    await api(url)
    assert server.seen[0].headers["Authorization"] == "Basic dXNAZXI6cDp3"
    await api(url, headers={"authorization": "Bearer x"})
    assert server.seen[1].headers["authorization"] == "Bearer x"


async def test_cookies_of_an_answer_reach_no_other_request(api, server, bench):
    url = server.on("/x", lambda h: h.json({}, Set_Cookie="session=1; Path=/"))
    steps = [{**api.step(url), "id": name} for name in ("one", "two")]
    await bench.run(*steps)
    assert len(server.seen) == 2
    assert "Cookie" not in server.seen[1].headers


async def test_connections_are_shared(api, server, bench):
    ports = set()

    def page(h):
        ports.add(h.client_address[1])
        h.json({})

    url = server.on("/x", page)
    steps = [{**api.step(url), "id": f"s{n}"} for n in range(5)]
    bench.workflow(*steps)
    app = await bench.open()
    for _ in range(3):
        await app.run("w")
    assert len(server.seen) == 15
    assert len(ports) == 1


# --- what validate sees ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "example.com/x",
        "ftp://h/x",
        "file:///etc/passwd",
        "http://",
        "http:///x",
        "http://h:99999/",
        "http://h\\x/",
        "{{ scheme }}://h/",
        "{{ base }}x",
        "http://a b/",
        "https//h",
    ],
)
def test_an_address_that_is_none(api, url):
    found = [item for item in api.bench.check(api.step(url)) if item.code == "TUVL-H001"]
    assert found
    assert found[0].klass == "structure"
    assert found[0].location is not None and found[0].location.line > 1


@pytest.mark.parametrize("url", ["http://h", "HTTPS://H/x?y#z", "http://[::1]:80/x", "http://u:p@h:8080/{{ x }}"])
def test_an_address(api, url):
    assert api.bench.codes(api.step(url)) == []


def test_one_body(api):
    assert api.bench.codes(api.step("http://h", method="POST", json={}, form={})) == ["TUVL-H003"]
    assert api.bench.codes(api.step("http://h", method="POST", json={}, body="x")) == ["TUVL-H003"]
    assert api.bench.codes(api.step("http://h", method="POST", json={})) == []


@pytest.mark.parametrize("name", ["X Y", "X:Y", "", "Content-Length", "transfer-encoding", "Host", "ä"])
def test_headers_that_cannot_be_sent(api, name):
    assert api.bench.codes(api.step("http://h", headers={name: "x"})) == ["TUVL-H004"]


def test_retries_without_effect_are_a_warning(api):
    (found,) = api.bench.check(api.step("http://h", method="POST", retries=2))
    assert (found.code, found.severity) == ("TUVL-H005", "warning")
    assert api.bench.codes(api.step("http://h", method="POST", retries=2, idempotency_key="k")) == []
    assert api.bench.codes(api.step("http://h", method="GET", retries=2)) == []


@pytest.mark.parametrize(
    "response",
    [
        {"output_key": "_x"},
        {"output_key": " "},
        {"extract": [{"path": "a", "as": "_x"}]},
        {"extract": [{"path": "a", "as": "x"}, {"path": "b", "as": "x"}]},
        {"output_key": "x", "extract": [{"path": "a", "as": "x"}]},
        {"extract": [{"path": "{{ a }}", "as": "x"}]},
    ],
)
def test_outputs_that_cannot_be_kept(api, response):
    assert api.bench.codes(api.step("http://h", response)) == ["TUVL-H006"]


@pytest.mark.parametrize(
    "http",
    [
        {"timeout": 0},
        {"timeout": -1},
        {"retries": -1},
        {"retries": 11},
        {"max_bytes": 0},
        {"follow_redirect": True},
        {"follow_redirects": "yes"},
    ],
)
def test_values_out_of_range(api, http):
    assert api.bench.codes(api.step("http://h", **http))
