"""The doctor's visit to an office that is served elsewhere: what its callers find there, looked at from outside.

Nothing is changed there. What is no office ends the visit; whatever else is wrong keeps nothing from being looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from ssl import cert_time_to_seconds
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from engross import __version__
from engross.office.examination import CLOCK_MAY_DIFFER, Finding, Status
from engross.replies import Reply, codes, reply
from engross.surfaces.client.address import office_around
from engross.surfaces.client.unheard import WHERE_OFFICES_ARE, Unheard

from .line import JSON, STREAM, Heard, Line

WITH_HANDSHAKE, WITHOUT_SESSIONS = "2025-11-25", "2026-07-28"
WHO = "/v1/record/who-am-i"
CALLED = {"name": "engross-doctor", "version": __version__}
DAYS_TO_RENEW = 14
_META = "io.modelcontextprotocol"


class Seen(NamedTuple):
    """What a check comes to; with what stands against it, where it fails."""

    status: Status
    what: str
    advice: str | None = None
    refusal: Reply | None = None


class Looked(NamedTuple):
    """A check that was made."""

    finding: Finding
    refusal: Reply | None

    def as_data(self) -> dict[str, Any]:
        """The check as JSON; a failing one names its code."""
        refused = {} if self.refusal is None else {"code": self.refusal.message_key}
        return {**self.finding.as_data(), **refused}


def visit(url: str, token: str | None) -> Reply:
    """Look at a served office. The answer is of the kind of what failed first, and lists every check."""
    looked = list(_looks(url, token))
    checks = [look.as_data() for look in looked]
    refusal = next((look.refusal for look in looked if look.refusal is not None), None)
    data = {"healthy": refusal is None, "url": url, "checks": checks}
    return reply(codes.SYS_OK, data=data) if refusal is None else reply(refusal.code, refusal.params, data)


def _looks(url: str, token: str | None) -> Iterator[Looked]:
    sent = token if token and _can_be_sent(token) else None
    with Line(office_around(url), sent) as line:
        try:
            heard = line.ask("GET", "/health/live")
        except Unheard as silence:
            yield _named("reachable", _unreached(silence.problem, silence.advice))
            return
        yield _named("reachable", _reachable(heard))
        live = _made(lambda: _live(heard))
        yield _named("live", live)
        if live.refusal is not None:
            return
        checks: Sequence[tuple[str, Callable[[], Seen]]] = (
            ("ready", lambda: _ready(line)),
            ("version", lambda: _version(heard)),
            ("way", lambda: _way(url, heard)),
            ("clock", lambda: _clock(heard)),
            ("credential", lambda: _credential(line, token, sent)),
            (f"mcp {WITH_HANDSHAKE}", lambda: _with_handshake(line)),
            (f"mcp {WITHOUT_SESSIONS}", lambda: _without_sessions(line)),
            ("rest", lambda: _rest(line)),
        )
        for name, check in checks:
            yield _named(name, _made(check))


def _named(name: str, seen: Seen) -> Looked:
    return Looked(Finding(name, seen.status, seen.what, seen.advice), seen.refusal)


def _made(check: Callable[[], Seen]) -> Seen:
    try:
        return check()
    except Unheard as silence:
        return _unreached(silence.problem, silence.advice)
    except (LookupError, TypeError, ValueError, AttributeError):
        # It has the look of an answer, and holds something else.
        return _unreached("what comes back makes no sense", "Look at the address, and which version is served there.")


def _unreached(what: str, advice: str) -> Seen:
    return Seen("fail", what, advice, reply(codes.OFFICE_UNREACHABLE))


def _refused(answer: Reply) -> Seen:
    return Seen("fail", f"{answer.message_key} {answer.message}", answer.entry.advice, answer)


def _reachable(heard: Heard) -> Seen:
    return Seen("ok", f"something answers, in {(heard.heard_at - heard.asked_at) * 1000:.0f} ms")


def _live(heard: Heard) -> Seen:
    """Whether it is an office, and runs."""
    answer = heard.reply
    if answer is None and (target := heard.headers.get("location")):
        return _unreached(f"it sends its callers to {target}", "Name that address, if it is the office's.")
    if answer is None or (answer.ok and answer.data.get("live") is not True):
        return _unreached(f"what answers is no office (HTTP {heard.status})", WHERE_OFFICES_ARE)
    return Seen("ok", "the office runs") if answer.ok else _refused(answer)


def _ready(line: Line) -> Seen:
    heard = line.ask("GET", "/health/ready")
    answer = heard.reply
    if answer is None:
        return _no_reply(heard)
    if not answer.ok:
        closing = "It is about to end: " if answer.data.get("closing") else ""
        return _refused(answer)._replace(
            advice=f"{closing}Look at its log, and at its store with `engross doctor` there."
        )
    return Seen("ok", f"it can work; its store, {answer.data.get('engine')}, answers")


def _version(heard: Heard) -> Seen:
    answer = heard.reply
    theirs = str(answer.data.get("version")) if answer else "unknown"
    if theirs != __version__:
        advice = "Bring the older one up to date; what the newer one has, the other does not know."
        return Seen("warn", f"{theirs} there, {__version__} here", advice)
    return Seen("ok", f"{theirs}, as here")


def _way(url: str, heard: Heard) -> Seen:
    """Whether anybody in between can read what is said, the token first of all."""
    if heard.tls is not None:
        return _tls(heard)
    if _is_this_machine(urlsplit(url).hostname or ""):
        return Seen("ok", "plain HTTP, and it does not leave this machine")
    advice = "Let a proxy speak TLS before the office, and make a new token: this one may have been read."
    return Seen("warn", "plain HTTP: whoever is in between reads everything, the token too", advice)


def _tls(heard: Heard) -> Seen:
    assert heard.tls is not None
    ends = (heard.tls.getpeercert() or {}).get("notAfter")
    days = (cert_time_to_seconds(str(ends)) - heard.heard_at) / 86400 if ends else None
    told = (
        f"{heard.tls.version()}" if days is None else f"{heard.tls.version()}, the certificate ends in {days:.0f} days"
    )
    if days is not None and days < DAYS_TO_RENEW:
        return Seen("warn", told, "Renew it in time: once it has ended, nobody gets in.")
    return Seen("ok", told)


def _clock(heard: Heard) -> Seen:
    """How far the clocks are apart, as far as a time in whole seconds and the way there and back can tell."""
    try:
        theirs = parsedate_to_datetime(heard.headers["date"])
        apart = theirs.replace(tzinfo=UTC).timestamp() + 0.5 - (heard.asked_at + heard.heard_at) / 2
    except (KeyError, ValueError, TypeError, OverflowError):
        return Seen("warn", "it does not say what time it is", "Have the proxy in between pass the header Date on.")
    uncertain = 0.5 + (heard.heard_at - heard.asked_at) / 2
    if abs(apart) - uncertain > CLOCK_MAY_DIFFER.total_seconds():
        here = datetime.fromtimestamp(heard.heard_at, UTC)
        told = f"it is {here:%Y-%m-%d %H:%M:%S} here, and the clock there is {abs(apart):.0f} s "
        advice = "Set the wrong one: what is recorded has the office's time, and tokens end by it."
        return Seen("warn", told + ("ahead" if apart > 0 else "behind"), advice)
    return Seen("ok", f"within {CLOCK_MAY_DIFFER.total_seconds():.0f} s of this one")


def _credential(line: Line, token: str | None, sent: str | None) -> Seen:
    if token and not sent:
        advice = "Look at how it is given: a line end, a space or quotes may have come with it."
        return Seen("fail", "the token has characters that no token has", advice, reply(codes.AUTH_INVALID))
    heard = line.ask("POST", WHO, {})
    answer = heard.reply
    if answer is None:
        return _no_reply(heard)
    if answer.code == codes.UNKNOWN_OPERATION:
        return Seen("warn", "it is accepted, and the office is too old to say as whose", "Bring the office up to date.")
    if not answer.ok:
        return _refused(answer)._replace(advice=_how_to_get_in(answer))
    who, tenant = answer.data["principal"], answer.data["tenant"]
    roles = ", ".join(who["roles"]) or "no roles"
    told = f"{who['id']} ({who['type']}) of {tenant}, with {roles}"
    if not sent:
        return Seen(
            "warn", f"none is asked for: everybody is {told}", "Serve it without --no-auth, unless you mean it."
        )
    return Seen("ok", told)


def _how_to_get_in(answer: Reply) -> str | None:
    if answer.code == codes.AUTH_REQUIRED:
        return "Give one by --token or ENGROSS_TOKEN; `engross token create` makes one, where the office is."
    if answer.code == codes.AUTH_INVALID:
        return "Take a token of this very office that has not ended or been revoked; `engross token list` shows them."
    return answer.entry.advice


def _with_handshake(line: Line) -> Seen:
    params = {"protocolVersion": WITH_HANDSHAKE, "capabilities": {}, "clientInfo": CALLED}
    heard = _asked(line, "initialize", params)
    session = heard.headers.get("mcp-session-id")
    if session is not None:
        told = {"Mcp-Session-Id": session, "MCP-Protocol-Version": WITH_HANDSHAKE}
        with suppress(Unheard):
            line.ask("DELETE", "/mcp", headers=told)
    result = _result(heard)
    if isinstance(result, Seen):
        return result
    if result.get("protocolVersion") != WITH_HANDSHAKE:
        return _unreached(f"it speaks {result.get('protocolVersion')!r} instead", "Bring the office up to date.")
    return Seen("ok", "it shakes hands")


def _without_sessions(line: Line) -> Seen:
    meta = {
        f"{_META}/protocolVersion": WITHOUT_SESSIONS,
        f"{_META}/clientCapabilities": {},
        f"{_META}/clientInfo": CALLED,
    }
    method = "tools/list"
    told = {"MCP-Protocol-Version": WITHOUT_SESSIONS, "Mcp-Method": method}
    result = _result(_asked(line, method, {"_meta": meta}, told))
    if isinstance(result, Seen):
        return result
    tools = result.get("tools")
    if not isinstance(tools, list):
        return _unreached("it lists no tools", "Look at its log.")
    return Seen("ok", f"it lists {len(tools)} tools to this caller")


def _asked(line: Line, method: str, params: object, headers: dict[str, str] | None = None) -> Heard:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return line.ask("POST", "/mcp", body, {"Accept": f"{JSON}, {STREAM}", **(headers or {})})


def _result(heard: Heard) -> dict[str, Any] | Seen:
    if heard.status == 401:
        advice = "See what is said about the credential."
        return Seen("warn", "it is there, and asks for a credential that it accepts", advice)
    message = heard.message
    if isinstance(found := message.get("result"), dict):
        return found
    if isinstance(error := message.get("error"), dict):
        return _unreached(f"it refuses: {error.get('message')}", "Look at its log; the office may be too old.")
    return _no_reply(heard)


def _rest(line: Line) -> Seen:
    heard = line.ask("GET", "/openapi.json", headers={"Accept": JSON})
    document = heard.document
    if not isinstance(document, dict) or "openapi" not in document or not isinstance(document.get("paths"), dict):
        return _no_reply(heard)
    return Seen("ok", f"described, {len(document['paths'])} paths, OpenAPI {document['openapi']}")


def _no_reply(heard: Heard) -> Seen:
    advice = "Look whether a proxy in between passes all paths on, and at the log of the office."
    return _unreached(f"what comes back is no answer of an office (HTTP {heard.status})", advice)


def _can_be_sent(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
