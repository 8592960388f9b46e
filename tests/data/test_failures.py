import re
import socket
from dataclasses import replace

import pytest

from fathom.data.answers import Failed, ask
from tests.support.refused import says

CLOSED = "http://127.0.0.1:9/file"


def failure(address, limits, headers=None):
    """Return why a request fails."""
    with pytest.raises(Failed) as caught:
        ask(address, headers or {}, limits)
    return str(caught.value)


def test_a_circle_of_redirects(site, limits):
    site.put("/other", status=302, location="/file")
    address = site.put("/file", status=302, location="/other")
    says("redirects in a circle").check(failure(address, limits))
    assert len(site.requests) < 50


@pytest.mark.parametrize("location", ["file:///etc/hostname", "ftp://127.0.0.1/file"])
def test_a_redirect_to_another_scheme(site, limits, location):
    address = site.put("/file", status=302, location=location)
    says("redirects to another scheme").check(failure(address, limits))


@pytest.mark.parametrize("location", ["http://[/", "http://127.0.0.1:0x/", f"http://{'a' * 70}/"])
def test_a_redirect_to_no_address(site, limits, location):
    says("no web address").check(failure(site.put("/f", status=302, location=location), limits))


def test_a_host_that_is_not_known(site, limits, monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("NO_PROXY", "*")
    says("unknown host", "moved.example").check(failure("http://moved.example/file", limits))


def test_a_host_that_refuses(limits, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    says("refused connection", "127.0.0.1").check(failure(CLOSED, limits))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_dead(limits, monkeypatch, scheme):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
        monkeypatch.setenv(name, "http://user:secret@127.0.0.1:9")
    printed = failure(f"{scheme}://moved.example/file", limits)
    says("proxy").check(printed)
    assert "secret" not in printed


def test_a_server_without_tls(site, limits):
    address = site.put("/file", content=b"x").replace("http:", "https:")
    says("not secure").check(failure(address, limits))


@pytest.mark.parametrize(
    ("certificate", "trusted", "host", "reason"),
    [
        ("own", False, "127.0.0.1", "self-signed certificate"),
        ("past", True, "127.0.0.1", "certificate has expired"),
        ("own", True, "localhost", "Hostname mismatch"),
    ],
)
def test_a_certificate_that_is_not_accepted(secure, limits, certificate, trusted, host, reason):
    site = secure(certificate, trusted)
    address = site.put("/file?key=secret", content=b"x").replace("127.0.0.1", host)
    printed = failure(address, limits)
    says("certificate", host, re.compile(f"{reason}.*")).check(printed)
    assert "secret" not in printed
    assert site.requests == []


def test_a_trusted_certificate_is_no_failure(secure, limits):
    address = secure("own", trusted=True).put("/file", content=b"bytes")
    assert b"".join(ask(address, {}, limits)[1]) == b"bytes"


def test_a_host_that_does_not_answer(limits, monkeypatch):
    """A connection waits where a program accepts none and its queue is full."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as host, socket.socket() as first, socket.socket() as second:
        host.bind(("127.0.0.1", 0))
        host.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(host.getsockname())
        address = f"http://127.0.0.1:{host.getsockname()[1]}/file"
        printed = failure(address, replace(limits, connect=0.2))
    says("no connection", "127.0.0.1").check(printed)


def test_a_host_that_cannot_be_reached(limits, monkeypatch):
    """No connection goes to the address of all machines."""
    monkeypatch.setenv("NO_PROXY", "*")
    says("unreachable host", "255.255.255.255").check(failure("http://255.255.255.255/f", limits))
