"""Why a request failed: each cause in its own words."""

import ssl
from urllib.parse import urlsplit

import requests.exceptions as of_requests
import urllib3.exceptions as of_urllib3

# What requests and urllib3 raise; a redirect to no address is a ValueError.
FAILURES = (OSError, of_urllib3.HTTPError, ValueError)
# The first that fits counts: a proxy that refuses the connection is the proxy's fault.
_CAUSES = (
    (of_requests.TooManyRedirects, "the server redirects in a circle, or too often"),
    (of_requests.InvalidSchema, "the server redirects to an address that is not http or https"),
    (of_requests.InvalidProxyURL, "the proxy's address is wrong (HTTP_PROXY, HTTPS_PROXY)"),
    (ValueError, "the address, or one that it redirects to, is no web address"),
    (of_urllib3.ProxyError, "the proxy cannot be used (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)"),
    (ssl.SSLCertVerificationError, "the certificate of '{host}' is not accepted ({reason})"),
    (of_requests.SSLError, "no secure connection can be made"),
    (of_urllib3.SSLError, "the secure connection ended"),
    (of_urllib3.NameResolutionError, "the host '{host}' is not known"),
    (ConnectionRefusedError, "the host '{host}' refuses the connection"),
    (of_requests.ConnectTimeout, "the host '{host}' does not answer"),
    (of_urllib3.NewConnectionError, "the host '{host}' cannot be reached"),
    (of_requests.Timeout, "the server does not answer"),
    (of_urllib3.TimeoutError, "the server stopped sending"),
    (TimeoutError, "the server stopped sending"),
    (of_requests.ConnectionError, "the server ended the connection, or its answer is not HTTP"),
    (of_urllib3.HTTPError, "the connection ended"),
)


def cause(error: Exception) -> str:
    """Return why a request failed.

    The error's own text is not used: it may hold a user's name and password.

    Args:
        error: what requests or urllib3 raised.
    """
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None:
        links.append(link)
        link = link.__cause__ or link.__context__
    request = getattr(error, "request", None)
    host = urlsplit(request.url).hostname if request is not None else None
    checks = [one.verify_message for one in links if isinstance(one, ssl.SSLCertVerificationError)]
    reason = checks[0] if checks else ""
    for kind, words in _CAUSES:
        # A wrong number in an answer is a ValueError as well, further down.
        if any(isinstance(one, kind) for one in (links[:1] if kind is ValueError else links)):
            return words.format(host=host, reason=reason)
    return f"the request failed ({type(error).__name__})"
