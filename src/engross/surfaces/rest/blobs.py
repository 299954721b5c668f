"""Files: bytes that are too many for a call, in and out, a piece at a time.

That a file came in is a write like any other, and goes through the pipeline as the flow `record.keep-blob`: once as a
dry run before the bytes are let in, so that whoever may not write is refused first, and once when they are all there.
Of a dry run that the client asked for, the bytes are let in as well, to be hashed, and are not kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from starlette.types import Receive, Scope, Send

from engross.calls import Caller
from engross.replies import Coded, Invalid, Reply, codes, record_crash, reply
from engross.surfaces.desk import Desk
from engross.surfaces.heads import NOSNIFF, Header

from .answers import send_empty, send_reply
from .arguments import KEY
from .asked import Asked, Fields, refuse_header, take_dry_run
from .body import ClientGone, pieces, refuse_larger, refuse_packed, unsupported
from .calls import READING, REVALIDATED, refuse_fields, refuse_method
from .digests import SHA256, announced, structured_digest
from .etags import is_known, is_named
from .ranges import Part, wanted_part

KEEP, GET = "record.keep-blob", "record.get-blob"
ADDRESS = "/v1/blobs"
UPLOADING = ("OPTIONS", "POST", "PUT")
FETCHING = ("GET", "HEAD", "OPTIONS")
IN_MEMORY = 1 << 20
"""How many bytes are collected before they are written to the disk."""
ANY_KIND = "application/octet-stream"
KEPT = {"cache-control": REVALIDATED, "content-security-policy": "default-src 'none'; sandbox"}
"""What a browser keeps with a file, and takes anew from every answer that it still is the same: not to run it, ever."""
# What a browser or curl says about a body of which nobody told it anything.
_UNTOLD = ("", "application/x-www-form-urlencoded")
_MEANT_OTHERWISE = {
    "Content-Range": "a file is sent whole, in one request",
    "If-Match": "a file is added and replaces nothing",
}
_NOT_YET = "0" * 64

T = TypeVar("T")
Content = Generator[bytes, None, None]


class TornOff(Exception):
    """A file turned out to be damaged when most of it was sent: all that is left to do is to hang up."""


class Announced(NamedTuple):
    """What a client says about the file it sends."""

    name: str
    media_type: str
    sha256: str | None
    key: Mapping[str, str]

    def arguments(self, content_hash: str, size: int, token: str) -> dict[str, Any]:
        """The arguments of `record.keep-blob`."""
        return {
            "content_hash": content_hash,
            "size": size,
            "media_type": self.media_type,
            "name": self.name,
            "upload_token": token,
        }


class Uploads:
    """The ASGI endpoint that takes files in."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        self._desk = desk
        self._office = desk.office
        self._base = base_url
        self._keep = desk.catalogue.flow(KEEP)
        self._settings = desk.office.settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        asked = Asked(scope)
        caller: Caller = scope["state"]["caller"]
        if asked.method == "OPTIONS":
            await send_empty(send, 204, {"allow": ", ".join(UPLOADING)})
            return
        try:
            answer = await self._uploaded(caller, asked, receive)
        except Coded as refusal:
            answer = self._desk.refuse(caller, KEEP, "rest", refusal, **asked.trace)
        except ClientGone:
            return
        await send_reply(scope, send, answer, base=self._base, headers=self._headers(answer))

    async def _uploaded(self, caller: Caller, asked: Asked, receive: Receive) -> Reply:
        refuse_method(asked.method, UPLOADING)
        options: dict[str, Any] = {}
        file = _announced(asked, options)
        refuse_larger(asked, self._settings.most_upload_bytes)
        arguments = file.arguments(file.sha256 or _NOT_YET, _declared_size(asked), _NOT_YET)
        # The key stands for a file that is not here yet: it can be looked at, and not be looked up.
        told = arguments if self._fits({**arguments, **file.key}) else {**arguments, **file.key}
        rehearsed = await self._desk.call(caller, KEEP, told, "rest", dry_run=True, **asked.trace)
        if not rehearsed.ok:
            return rehearsed
        # One upload counts once, however often the flow is asked about it.
        options = {**options, **asked.trace, "traceparent": rehearsed.traceparent, "is_counted": False}
        try:
            return await self._taken_in(caller, asked, receive, file, options)
        except Coded as refusal:
            return self._desk.refuse(caller, KEEP, "rest", refusal, **options)

    async def _taken_in(
        self, caller: Caller, asked: Asked, receive: Receive, file: Announced, options: Mapping[str, Any]
    ) -> Reply:
        settings = self._settings
        with await in_thread(self._office.blobs(caller.tenant).arriving) as arriving:
            collected = bytearray()
            async for piece in pieces(asked, receive, settings.most_upload_bytes, settings.body_seconds):
                collected += piece
                if len(collected) >= IN_MEMORY:
                    await in_thread(arriving.write, bytes(collected))
                    collected.clear()
            await in_thread(arriving.write, bytes(collected))
            if file.sha256 not in (None, arriving.digest):
                details = {"announced": file.sha256, "received": arriving.digest, "size": arriving.size}
                raise Invalid(codes.DIGEST_MISMATCH, details=details)
            token = self._office.vouch(caller.tenant, arriving.digest, arriving.size)
            arguments = {**file.arguments(arriving.digest, arriving.size, token), **file.key}
            is_rehearsal = options.get("dry_run", False)
            if file.key or is_rehearsal:
                # Only now is it known whether the key was used for another file; then this one is not kept at all.
                rehearsed = await self._desk.call(caller, KEEP, arguments, "rest", **{**options, "dry_run": True})
                if is_rehearsal or not rehearsed.ok:
                    return _without_token(rehearsed)
            await in_thread(arriving.keep)
        return await self._desk.call(caller, KEEP, arguments, "rest", **options)

    def _fits(self, arguments: dict[str, Any]) -> bool:
        try:
            self._keep.check(arguments)
        except Invalid:
            return False
        return True

    def _headers(self, answer: Reply) -> dict[str, str]:
        if answer.code == codes.METHOD_NOT_ALLOWED:
            return {"allow": ", ".join(answer.data["allowed_methods"])}
        blob = answer.data.get("blob") if answer.ok and answer.http_status != 202 else None
        if blob is None:
            return {}
        return {
            "location": f"{self._base}{ADDRESS}/{blob['content_hash']}",
            "etag": _tag(blob),
        }


def _without_token(rehearsed: Reply) -> Reply:
    """What a dry run answers. The token is ours alone: whoever had it would need no upload."""
    told = rehearsed.data.get("normalized")
    if told is None:
        return rehearsed
    normalized = {name: value for name, value in told.items() if name != "upload_token"}
    shown = reply(rehearsed.code, rehearsed.params, {**rehearsed.data, "normalized": normalized})
    assert rehearsed.trace is not None
    return shown.traced(rehearsed.trace, rehearsed.tool, rehearsed.duration_ms)


class Downloads:
    """The ASGI endpoint that hands files out."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        self._desk = desk
        self._office = desk.office
        self._base = base_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        asked = Asked(scope)
        caller: Caller = scope["state"]["caller"]
        if asked.method == "OPTIONS":
            await send_empty(send, 204, {"allow": ", ".join(FETCHING)})
            return
        headers = {}
        is_counted = True
        try:
            refuse_method(asked.method, FETCHING)
            arguments = {"content_hash": scope["path_params"]["content_hash"]}
            answer = await self._desk.call(caller, GET, arguments, "rest", **asked.trace)
            is_counted = False
            if answer.ok:
                await self._sent(asked, receive, send, caller, answer)
                return
        except Coded as refusal:
            answer = self._desk.refuse(caller, GET, "rest", refusal, **asked.trace, is_counted=is_counted)
            if answer.code == codes.METHOD_NOT_ALLOWED:
                headers["allow"] = ", ".join(FETCHING)
            elif answer.code == codes.RANGE_NOT_SATISFIABLE:
                headers["content-range"] = f"bytes */{answer.params['size']}"
        await send_reply(scope, send, answer, base=self._base, headers=headers)

    async def _sent(self, asked: Asked, receive: Receive, send: Send, caller: Caller, answer: Reply) -> None:
        blob = answer.data["blob"]
        tag = _tag(blob)
        traced = {"traceparent": answer.traceparent or ""}
        # In the order of RFC 9110, 13.2.2.
        if_match = asked.header(b"if-match")
        if if_match is not None and not is_named(tag, if_match):
            raise Invalid(codes.PRECONDITION_FAILED)
        if is_known(tag, asked.header(b"if-none-match") or ""):
            await send_empty(send, 304, {"etag": tag, **KEPT, **traced})
            return
        part = _part(asked, tag, blob["size"])
        head = _head(blob, tag, part, traced)
        if asked.method == "HEAD":
            await send({"type": "http.response.start", "status": 206 if part else 200, "headers": head})
            await send({"type": "http.response.body", "body": b""})
            return
        blobs = self._office.blobs(caller.tenant)
        content = await in_thread(lambda: blobs.pieces(blob["content_hash"], *(part or ())))
        await _stream(content, receive, send, 206 if part else 200, head, answer.trace_id or "")


async def _stream(content: Content, receive: Receive, send: Send, status: int, head: list[Header], trace: str) -> None:
    """Send the pieces. The first is there before anything is said, so that a small file is known to be whole."""
    piece = await in_thread(lambda: next(content, b""))
    leaving = asyncio.create_task(_departure(receive))
    try:
        await send({"type": "http.response.start", "status": status, "headers": head})
        while piece and not leaving.done():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = await in_thread(lambda: next(content, b""))
        if not leaving.done():
            await send({"type": "http.response.body", "body": b""})
    except Coded as damage:
        record_crash(trace, damage, GET)
        raise TornOff from damage
    finally:
        leaving.cancel()
        await in_thread(content.close)


async def _departure(receive: Receive) -> None:
    """Wait until the client has left."""
    with suppress(Coded):
        while (await receive())["type"] != "http.disconnect":
            pass


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Have something done that may wait for the disk. Whoever gives up waits too: nobody closes a file under it."""
    future = asyncio.get_running_loop().run_in_executor(None, work, *arguments)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise


def _announced(asked: Asked, options: dict[str, Any]) -> Announced:
    refuse_packed(asked)
    for name, problem in _MEANT_OTHERWISE.items():
        if name.lower().encode() in asked.headers:
            refuse_header(name, problem)
    if b"engross-dry-run" in asked.headers:
        options["dry_run"] = asked.truth(b"engross-dry-run")
    told = _told_once(take_dry_run(asked.fields, options))
    media_type = (asked.header(b"content-type") or "").partition(";")[0].strip().lower()
    if media_type.startswith("multipart/"):
        raise unsupported("the file itself, not a form with the file in it", ANY_KIND)
    return Announced(
        name=told.get("name", "file"),
        media_type=ANY_KIND if media_type in _UNTOLD else media_type,
        sha256=announced(asked, told.get(SHA256)),
        key={} if asked.key is None else {KEY: asked.key},
    )


def _told_once(fields: Fields) -> dict[str, str]:
    known = ("name", SHA256, "dry_run")
    refuse_fields([field for field in fields if field[0] not in known], known)
    told: dict[str, str] = {}
    for name, text in fields:
        if name in told:
            raise Invalid(codes.VALIDATION_ERROR, {"problem": f"{name} is there more than once"}, field=name)
        told[name] = text
    return told


def _declared_size(asked: Asked) -> int:
    declared = asked.headers.get(b"content-length", b"")
    return int(declared[:18]) if declared.isdigit() else 0


def _tag(blob: Mapping[str, Any]) -> str:
    return f'"{blob["content_hash"]}"'


def _part(asked: Asked, tag: str, size: int) -> Part | None:
    """The part that was asked for, unless it was meant of other bytes."""
    if asked.method not in READING or asked.header(b"if-range") not in (None, tag):
        return None
    return wanted_part(asked.header(b"range"), size)


def _head(blob: Mapping[str, Any], tag: str, part: Part | None, more: Mapping[str, str]) -> list[Header]:
    size = blob["size"]
    told = {
        "content-type": blob["media_type"],
        "content-length": str(part.size if part else size),
        "content-disposition": f"attachment; filename*=UTF-8''{quote(blob['name'], safe='')}",
        "etag": tag,
        "repr-digest": structured_digest(blob["content_hash"]),
        "accept-ranges": "bytes",
        **KEPT,
        **({"content-range": f"bytes {part.first}-{part.last}/{size}"} if part else {}),
        **more,
    }
    return [NOSNIFF, *((name.encode(), value.encode("latin-1")) for name, value in told.items())]
