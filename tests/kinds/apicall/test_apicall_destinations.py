"""Kind APICall: where requests go, and what goes along."""

from __future__ import annotations

import socket

import pytest

from tuvl_kinds_apicall.addresses import is_private
from tuvl_kinds_apicall.hosts import AllowedHosts, Origin

ATTACHED = {"Authorization": "Bearer s3cr3t-1", "X-Api-Key": "s3cr3t-2", "Cookie": "c=s3cr3t-3"}
METADATA = "http://169.254.169.254/latest/meta-data"


def redirect(server, to, status=302, path="/from"):
    return server.on(path, lambda h: h.answer(status, b"moved", Location=to))


def landing(server, path="/to"):
    return server.on(path, lambda h: h.json({"landed": True}))


# --- redirects ------------------------------------------------------------------------------


async def test_nothing_attached_follows_to_another_port(api, server, other):
    url = redirect(server, landing(other))
    outcome = await api(url + "?key=s3cr3t-4", headers=ATTACHED, params={"k": "s3cr3t-5"}, follow_redirects=True)
    assert outcome.context["call_result"] == {"landed": True}
    (seen,) = other.seen
    assert set(seen.headers) == {"Host", "Connection", "User-Agent", "Accept", "Accept-Encoding"}
    assert "s3cr3t" not in seen.path


async def test_credentials_of_the_url_do_not_follow(api, server, other):
    url = redirect(server, landing(other)).replace("://", "://user:s3cr3t@")
    await api(url, follow_redirects=True)
    assert "Authorization" in server.seen[0].headers
    assert "Authorization" not in other.seen[0].headers


async def test_credentials_in_a_location_are_dropped(api, server):
    landing(server)
    url = redirect(server, server.url.replace("://", "://evil:word@") + "/to")
    await api(url, follow_redirects=True)
    assert "Authorization" not in server.seen[1].headers


async def test_coming_back_does_not_bring_them_back(api, server, other):
    landing(server)
    url = redirect(server, redirect(other, server.url + "/to"))
    await api(url, headers=ATTACHED, follow_redirects=True)
    assert [seen.path for seen in server.seen] == ["/from", "/to"]
    assert not set(ATTACHED) & set(server.seen[1].headers)


async def test_the_same_host_is_followed_as_usual(api, server):
    landing(server)
    outcome = await api(redirect(server, "/to"), headers=ATTACHED, follow_redirects=True)
    assert outcome.context["call_result"] == {"landed": True}
    assert set(ATTACHED) <= set(server.seen[1].headers)


@pytest.mark.parametrize(
    "target",
    [
        METADATA,
        "http://10.0.0.5/",
        "http://192.168.1.1/",
        "http://[::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://0.0.0.0/",
        "http://localhost/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://169.254.169.254.:80/",
        "//169.254.169.254/x",
    ],
)
async def test_a_redirect_inside_a_network_makes_no_connection(api, server, target, monkeypatch):
    connected = []
    original = socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda self, address: connected.append(address) or original(self, address)
    )
    outcome = await api(redirect(server, target), headers=ATTACHED, follow_redirects=True, timeout=3)
    assert outcome.signals == ["error"]
    assert outcome.error_type == "blocked_address"
    assert "'call'" in outcome.error
    assert all(address[1] == server.port for address in connected)


async def test_a_redirect_to_a_name_that_the_project_lists(api, server, other):
    target = landing(other).replace("127.0.0.1", "localhost")
    outcome = await api(redirect(server, target), follow_redirects=True)
    assert outcome.error_type == "blocked_address"
    api.allow("localhost")
    outcome = await api(redirect(server, target), headers=ATTACHED, follow_redirects=True)
    assert outcome.context["call_result"] == {"landed": True}
    assert not set(ATTACHED) & set(other.seen[0].headers)


@pytest.mark.parametrize("target", ["ftp://h/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://[bad/"])
async def test_redirects_that_lead_to_no_web_address(api, server, target):
    outcome = await api(redirect(server, target), follow_redirects=True)
    assert outcome.error_type == "redirect"


async def test_a_circle_of_redirects_ends(api, server):
    outcome = await api(redirect(server, "/from"), follow_redirects=True)
    assert outcome.error_type == "redirect"
    assert len(server.seen) == 11


@pytest.mark.parametrize(
    ("status", "method", "then", "body"),
    [
        (301, "POST", "GET", b""),
        (302, "POST", "GET", b""),
        (303, "PUT", "GET", b""),
        (307, "POST", "POST", b'{"a":1}'),
        (308, "PUT", "PUT", b'{"a":1}'),
        (302, "PUT", "PUT", b'{"a":1}'),
        (303, "HEAD", "HEAD", b""),
    ],
)
async def test_methods_and_bodies_on_the_same_host(api, server, status, method, then, body):
    landing(server)
    json = {} if method == "HEAD" else {"json": {"a": 1}}
    await api(redirect(server, "/to", status), method=method, follow_redirects=True, **json)
    seen = server.seen[1]
    assert (seen.method, seen.body) == (then, body)
    assert ("Content-Type" in seen.headers) == bool(body)


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_a_body_or_a_change_never_goes_to_another_host(api, server, other, status, method):
    url = redirect(server, landing(other), status)
    body = {} if method == "DELETE" else {"json": {"secret": 1}}
    outcome = await api(url, method=method, follow_redirects=True, **body)
    assert outcome.error_type == "redirect"
    assert other.seen == []


async def test_a_post_that_becomes_a_get_leaves_its_body_behind(api, server, other):
    await api(
        redirect(server, landing(other)), method="POST", json={"secret": 1}, headers=ATTACHED, follow_redirects=True
    )
    (seen,) = other.seen
    assert (seen.method, seen.body) == ("GET", b"")
    assert not {"Content-Type", *ATTACHED} & set(seen.headers)


# --- hosts that values choose ---------------------------------------------------------------


async def test_a_value_may_not_choose_the_host(api, server):
    landing(server)
    for url, context in [
        ("{{ u }}/to", {"u": server.url}),
        ("{{ u }}", {"u": server.url + "/to"}),
        ("http://{{ h }}:%d/to" % server.port, {"h": "127.0.0.1"}),
        ("http://127.0.0.1:{{ p }}/to", {"p": server.port}),
        ("http://127.0.0.{{ n }}:%d/to" % server.port, {"n": 1}),
    ]:
        outcome = await api(url, context)
        assert outcome.error_type == "blocked_host", url
        assert "127.0.0.1" in outcome.error
    assert server.seen == []


async def test_a_value_may_choose_among_hosts_the_project_names(api, server):
    landing(server)
    api.allow("api.example.com", f"127.0.0.1:{server.port}")
    for url, context in [
        ("{{ u }}/to", {"u": server.url}),
        ("{{ u }}/to", {"u": server.url + "/"}),
        ("{{ u }}", {"u": server.url + "/to"}),
        ("{{ u }}?a={{ a }}", {"u": server.url + "/to", "a": "1&b=2"}),
        ("http://{{ h }}:%d/to" % server.port, {"h": "127.0.0.1"}),
        ("http://127.0.0.1:{{ p }}/to", {"p": str(server.port)}),
    ]:
        outcome = await api(url, context)
        assert outcome.context.get("call_result") == {"landed": True}, (url, outcome.error)
    assert server.seen[3].path == "/to?a=1%26b%3D2"
    outcome = await api("{{ u }}", {"u": "http://127.0.0.1:1/"})
    assert outcome.error_type == "blocked_host"


async def test_a_pattern_does_not_open_private_addresses(api, server):
    landing(server)
    api.allow("*")
    outcome = await api("{{ u }}/to", {"u": server.url})
    assert outcome.error_type == "blocked_address"
    assert server.seen == []


async def test_a_connection_of_one_step_never_serves_another_that_may_not_have_it(api, server, bench):
    landing(server)
    api.allow("*")
    steps = [api.step(server.url + "/to"), {**api.step("{{ u }}/to"), "id": "two"}]
    outcome = await bench.run(*steps, context={"u": server.url})
    assert outcome.signals == ["default", "error"]
    assert outcome.error_type == "blocked_address"
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "value",
    [
        "http://evil@127.0.0.1/",
        "http://u:p@127.0.0.1/",
        "127.0.0.1/to",
        "ftp://127.0.0.1",
        "http://127.0.0.1\\@x/",
        "http://a b/",
        "//127.0.0.1/",
        "http://127.0.0.1:99999/",
        "",
        None,
        5,
        ["http://127.0.0.1/"],
        "http://\n127.0.0.1/",
    ],
)
async def test_what_is_no_address_is_refused_as_a_value(api, value):
    api.allow("127.0.0.1")
    outcome = await api("{{ u }}", {"u": value})
    assert outcome.error_type == "bad_request"


@pytest.mark.parametrize("value", ["a/b", "a@b", "a:80", "a?b", "a#b", "a\\b", "", " ", None, "[::1]", "ä", "a\nb"])
async def test_what_is_no_host_name_is_refused_as_a_value(api, value):
    api.allow("*", "a", "b")
    outcome = await api("http://{{ h }}/to", {"h": value})
    assert outcome.error_type == "bad_request"


def test_a_templated_host_without_a_list_is_reported(api):
    (found,) = api.bench.check(api.step("https://{{ tenant }}.example.com/x"))
    assert (found.code, found.klass) == ("TUVL-H002", "flow")
    assert "allow_hosts" in (found.hint or "")
    api.allow("*.example.com")
    assert api.bench.codes(api.step("https://{{ tenant }}.example.com/x")) == []


async def test_a_host_from_the_environment_is_the_authors(api, server):
    landing(server)
    api.bench.environ["SERVICE"] = server.url
    outcome = await api("${SERVICE}/to")
    assert outcome.context["call_result"] == {"landed": True}


async def test_a_name_is_looked_up_once_and_the_judged_address_is_used(api, server, monkeypatch):
    landing(server)
    asked = []

    def changing(host, port, *args, **kwargs):
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr("tuvl_kinds_apicall.addresses.socket.getaddrinfo", changing)
    outcome = await api(f"http://rebind.test:{server.port}/to")
    assert outcome.context["call_result"] == {"landed": True}
    assert asked == ["rebind.test"]


async def test_public_and_private_addresses_of_one_name(api, server, monkeypatch):
    """A name that a value chose, with a private address among its own: only the public one counts."""
    landing(server)
    api.allow("*")
    tried = []

    def both(host, port, *args, **kwargs):
        return [(2, 1, 6, "", (address, port)) for address in ("127.0.0.1", "203.0.113.7", "8.8.8.8")]

    async def connect(self, host, port, *args, **kwargs):
        import httpcore

        tried.append(host)
        raise httpcore.ConnectError("unreachable")

    monkeypatch.setattr("tuvl_kinds_apicall.addresses.socket.getaddrinfo", both)
    monkeypatch.setattr("httpcore.AnyIOBackend.connect_tcp", connect)
    outcome = await api("http://{{ h }}/to", {"h": "rebind.test"})
    assert outcome.error_type == "connection"
    assert tried == ["8.8.8.8"]
    assert server.seen == []


# --- proxies --------------------------------------------------------------------------------


async def test_proxies_of_the_environment_are_used_only_when_the_project_says_so(api, server, other, monkeypatch):
    landing(server)
    other.on("*", lambda h: h.json({"by": "proxy"}))
    monkeypatch.setenv("HTTP_PROXY", other.url)
    monkeypatch.setenv("http_proxy", other.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert (await api(server.url + "/to")).context["call_result"] == {"landed": True}
    api.bench.environ["TUVL_APICALL_TRUST_ENV"] = "1"
    assert (await api(server.url + "/to")).context["call_result"] == {"by": "proxy"}
    assert other.seen[0].path == server.url + "/to"
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert (await api(server.url + "/to")).context["call_result"] == {"landed": True}


async def test_a_proxy_opens_no_private_address_to_a_value(api, server, other, monkeypatch):
    monkeypatch.setenv("http_proxy", other.url)
    monkeypatch.delenv("no_proxy", raising=False)
    api.bench.environ["TUVL_APICALL_TRUST_ENV"] = "1"
    api.allow("*")
    outcome = await api("{{ u }}", {"u": METADATA})
    assert outcome.error_type == "blocked_address"
    assert other.seen == []


# --- the rules by themselves ----------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "2002:a00:1::",
        "2001:0:a00:1::",
    ],
)
def test_private_addresses(address):
    assert is_private(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses(address):
    assert not is_private(address)


def test_entries_of_allow_hosts():
    allowed = AllowedHosts.parse(
        ["API.example.com.", "localhost:8080", "*.acme.test", "[::1]:80", "::2", " ", "*.a.test:81"]
    )

    def allows(scheme, host, port=None):
        return allowed.allows(Origin.of(scheme, host, port))

    assert allows("https", "api.example.com")
    assert allows("http", "Api.Example.Com.", 99)
    assert allows("http", "localhost", 8080) and not allows("http", "localhost")
    assert allows("http", "x.acme.test") and allows("http", "y.x.acme.test")
    assert not allows("http", "acme.test") and not allows("http", "xacme.test")
    assert allows("http", "::1") and not allows("https", "::1")
    assert allows("http", "::2", 5)
    assert allows("http", "b.a.test", 81) and not allows("http", "b.a.test")
    assert not allows("http", "")
    assert not allowed.names(Origin.of("http", "x.acme.test", None))
    assert not AllowedHosts.parse([])
