"""HTTP that goes straight to an office.

The environment may name proxies (HTTP_PROXY and its kin). What is said to an office holds a credential, and on plain
HTTP whoever passes it on can read it, also when the office is on this very machine.
"""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

IN_NO_HURRY = httpx2.Timeout(120.0)


def straight(
    headers: Mapping[str, str] | None = None,
    *,
    timeout: httpx2.Timeout = IN_NO_HURRY,
    limits: httpx2.Limits | None = None,
) -> httpx2.Client:
    """A client that uses no proxy and sends nothing of its own accord."""
    # Whom this machine trusts (SSL_CERT_FILE) is all that the environment has a say in.
    trusted = httpx2.create_ssl_context()
    return httpx2.Client(
        headers=headers, timeout=timeout, limits=limits or httpx2.Limits(), verify=trusted, trust_env=False
    )
