"""Files in and out: whole or not at all, on the record, and only for those they belong to."""

from __future__ import annotations

import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from engross.office import Office, Settings
from engross.replies import codes, parse
from engross.surfaces.desk import Desk
from tests.bed.patience import eventually
from tests.bed.small_disk import Disk, SmallDisk
from tests.surfaces.rest.house import House, everything, serving, status_of

HELLO = b"hello, office"
HASH = sha256(HELLO).hexdigest()
LARGE = bytes(range(256)) * 10_000
UPLOADS = "/v1/blobs"


def structured(content: bytes) -> str:
    return f"sha-256=:{b64encode(sha256(content).digest()).decode()}:"


def upload(house: House, content: bytes = HELLO, method: str = "POST", **more: Any) -> httpx2.Response:
    return house.ask(method, UPLOADS, content=content, **more)


def fetch(house: House, content_hash: str = HASH, **more: Any) -> httpx2.Response:
    return house.get(f"{UPLOADS}/{content_hash}", **more)


def code_of(answer: httpx2.Response) -> str:
    code: str = answer.json()["reply"]["code"]
    return code


def on_disk(house: House) -> list[str]:
    """The names of everything in the tenant's blobs."""
    folder = house.office.settings.data / "blobs" / house.tenant
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def barn(cottage: House, request: pytest.FixtureRequest) -> Iterator[House]:
    """The cottage, for a tenant of the test's own."""
    name = sha256(request.node.name.encode()).hexdigest()[:12]
    mine = cottage.next_door(f"barn-{name}")
    yield mine
    mine.close()


# --- there and back


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_file_comes_back_as_it_went_in(house: House, method: str) -> None:
    kept = upload(house, HELLO, method, params={"name": "hello.txt"}, headers={"Content-Type": "text/plain"})
    assert (kept.status_code, code_of(kept)) == (201, codes.CREATED)
    blob = kept.json()["blob"]
    assert (blob["content_hash"], blob["size"], blob["media_type"], blob["name"]) == (
        *(HASH, len(HELLO)),
        *("text/plain", "hello.txt"),
    )
    assert kept.headers["location"] == f"{UPLOADS}/{HASH}"
    back = house.get(kept.headers["location"])
    assert (back.status_code, back.content) == (200, HELLO)
    assert back.headers["content-type"] == "text/plain"
    assert back.headers["repr-digest"] == structured(HELLO)


def test_a_large_file_comes_back_as_it_went_in(house: House) -> None:
    def pieces() -> Any:
        for start in range(0, len(LARGE), 100_000):
            yield LARGE[start : start + 100_000]

    kept = house.ask("PUT", UPLOADS, content=pieces())
    assert (kept.status_code, kept.json()["blob"]["size"]) == (201, len(LARGE))
    assert fetch(house, sha256(LARGE).hexdigest()).content == LARGE


def test_an_empty_file_is_a_file(house: House) -> None:
    kept = upload(house, b"")
    assert (kept.status_code, kept.json()["blob"]["size"]) == (201, 0)
    back = fetch(house, sha256(b"").hexdigest())
    assert (back.status_code, back.content) == (200, b"")


def test_a_file_is_on_the_record_like_everything_else(house: House) -> None:
    kept = upload(house, params={"name": "hello.txt"}).json()
    (fact,) = house.call("record.read-facts").json()["facts"]
    assert (fact["subject"], fact["data"]["payload"]["name"]) == (HASH, "hello.txt")
    receipt = house.call("record.get-receipt", {"position": kept["position"]}).json()["receipt"]
    assert receipt["principal"]["id"] == "clara"
    assert house.office.rebuild(house.tenant).same
    assert house.call("record.get-blob", {"content_hash": HASH}).json()["blob"] == kept["blob"]


def test_the_same_bytes_again_change_nothing(house: House) -> None:
    first = upload(house, params={"name": "one.txt"})
    again = upload(house, params={"name": "two.txt"})
    assert (again.status_code, code_of(again)) == (200, codes.NO_EFFECT)
    assert again.json()["blob"] == first.json()["blob"]
    assert len(house.call("record.read-facts").json()["facts"]) == 1


def test_an_upload_can_be_repeated_under_its_key(house: House) -> None:
    headers = {"Idempotency-Key": '"upload-number-1"'}
    assert upload(house, headers=headers).json()["idempotent_replay"] is False
    assert upload(house, headers=headers).json()["idempotent_replay"] is True
    other = upload(house, b"something else", headers=headers)
    assert (other.status_code, code_of(other)) == (422, codes.IDEMPOTENCY_KEY_REUSED)
    assert fetch(house, sha256(b"something else").hexdigest()).status_code == 404
    assert on_disk(house) == [HASH]


def test_an_upload_joins_the_callers_trace(house: House) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    kept = upload(house, headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
    assert kept.headers["traceparent"].split("-")[1] == trace == kept.json()["reply"]["trace_id"]


def test_an_agent_may_upload(house: House) -> None:
    assert upload(house, by="scout").status_code == 201
    assert fetch(house, by="scout").content == HELLO


def test_a_file_is_for_who_uploaded_it_and_for_the_people_who_review(house: House) -> None:
    upload(house, by="scout")
    assert fetch(house).content == HELLO
    assert (fetch(house, by="vera").status_code, code_of(fetch(house, by="vera"))) == (404, codes.RECORD_NOT_FOUND)


def test_a_dry_run_of_an_upload_takes_nothing_in(house: House) -> None:
    for how in ({"params": {"dry_run": "true"}}, {"headers": {"Engross-Dry-Run": "true"}}):
        answer = upload(house, **how)  # type: ignore[arg-type]
        assert (answer.status_code, code_of(answer)) == (200, codes.VALIDATION_DONE)
        assert "location" not in answer.headers
    assert on_disk(house) == []
    assert fetch(house).status_code == 404


@pytest.mark.parametrize("how", [{}, {"headers": {"Idempotency-Key": "rehearsed-upload"}}])
def test_a_dry_run_of_an_upload_tells_what_was_sent_and_makes_nothing_up(house: House, how: dict[str, Any]) -> None:
    tried = upload(house, params={"name": "hello.txt", "dry_run": "true"}, **how)
    told = tried.json()
    shown = told["answer"]["blob"]
    assert (shown["content_hash"], shown["size"], shown["name"]) == (HASH, len(HELLO), "hello.txt")
    assert told["normalized"]["content_hash"] == HASH
    assert "upload_token" not in tried.text
    assert "0" * 64 not in tried.text
    assert upload(house, params={"name": "hello.txt"}, **how).status_code == 201
    assert house.call("record.get-blob", {"content_hash": HASH}).json()["blob"]["name"] == "hello.txt"


def test_a_dry_run_of_bytes_that_are_there_already_changes_nothing(house: House) -> None:
    kept = upload(house, params={"name": "one.txt"}).json()["blob"]
    tried = upload(house, params={"name": "two.txt", "dry_run": "true"}).json()
    assert (tried["would"]["mode"], tried["answer"]["blob"]) == ("unchanged", kept)
    assert on_disk(house) == [HASH]


def test_a_dry_run_of_other_bytes_than_were_announced_is_refused(barn: House) -> None:
    answer = upload(barn, params={"sha256": "1" * 64, "dry_run": "true"})
    assert (answer.status_code, code_of(answer)) == (422, codes.DIGEST_MISMATCH)


# --- who may


def test_who_may_not_write_is_refused_before_a_byte_is_let_in(barn: House) -> None:
    head = barn.head("PUT", UPLOADS, "Content-Length: 2000000", "Expect: 100-continue", by="vera")
    answer = barn.raw(head)
    assert b"100 Continue" not in answer
    assert status_of(answer) == 403
    assert on_disk(barn) == []


def test_who_may_is_told_to_go_on(barn: House) -> None:
    head = barn.head("PUT", UPLOADS, f"Content-Length: {len(HELLO)}", "Expect: 100-continue")
    with barn.connect() as connection:
        connection.sendall(head)
        assert connection.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(HELLO)
        assert status_of(everything(connection)) == 201


@pytest.mark.requirement("ECO-05")
def test_a_read_only_office_takes_no_files(folder: Path) -> None:
    office = Office(Settings(domains="", data=folder, read_only=True))
    with serving(office) as closed:
        for key in ("long-enough", "short"):
            answer = upload(closed, headers={"Idempotency-Key": key})
            assert (answer.status_code, code_of(answer)) == (403, codes.READ_ONLY)
        assert on_disk(closed) == []
    office.close()


@contextmanager
def limiting(folder: Path, rates: str) -> Iterator[House]:
    """An office with these rates."""
    (folder / "policies").mkdir(parents=True)
    (folder / "policies" / "knobs.toml").write_text(f"rate_limits = {{ {rates} }}")
    office = Office(Settings(domains="", data=folder))
    with serving(office) as limited:
        yield limited
    office.close()


def test_uploads_have_a_rate_of_their_own_and_each_counts_once(folder: Path) -> None:
    with limiting(folder, 'upload = "2/hour"') as limited:
        for key in ("first-file", "second-file"):
            assert upload(limited, key.encode(), headers={"Idempotency-Key": key}).status_code == 201
        answer = upload(limited)
        assert (answer.status_code, code_of(answer)) == (429, codes.RATE_LIMIT_EXCEEDED)
        assert len(on_disk(limited)) == 2
        assert limited.call("record.who-am-i", {}).status_code == 200


def test_an_upload_that_is_refused_counts_once_whenever_that_turns_out(folder: Path) -> None:
    with limiting(folder, 'upload = "3/hour"') as limited:
        other = {"Repr-Digest": structured(b"other bytes")}
        refused = [upload(limited, headers=headers) for headers in ({"If-Match": "*"}, other, other)]
        assert [answer.status_code for answer in refused] == [400, 422, 422]
        assert upload(limited, headers={"If-Match": "*"}).status_code == 429


def test_a_download_that_is_refused_counts_once(folder: Path) -> None:
    with limiting(folder, '"record.get-blob" = "2/hour"') as limited:
        assert upload(limited).status_code == 201
        statuses = [fetch(limited, headers={"If-Match": '"other"'}).status_code for _ in range(3)]
        assert statuses == [412, 412, 429]


@pytest.mark.requirement("REL-05")
def test_a_file_of_another_tenant_is_not_there(house: House) -> None:
    upload(house)
    others = house.next_door(f"not-{house.tenant}")
    theirs, nowhere = fetch(others), fetch(others, "0" * 64)
    assert theirs.status_code == nowhere.status_code == 404
    assert code_of(theirs) == code_of(nowhere) == codes.RECORD_NOT_FOUND
    assert others.ask("HEAD", f"{UPLOADS}/{HASH}").status_code == 404
    # Bytes that they send themselves are theirs.
    assert upload(others, params={"name": "mine.txt"}).status_code == 201
    assert fetch(house).headers["content-disposition"] != fetch(others).headers["content-disposition"]
    others.close()


def test_bytes_that_are_not_on_the_record_cannot_be_fetched_nor_put_on_it_by_their_digest(house: House) -> None:
    content = b"a document that somebody may not read"
    content_hash = house.office.blobs(house.tenant).put(content)
    assert fetch(house, content_hash).status_code == 404
    claim = {"content_hash": content_hash, "size": len(content), "media_type": "text/plain", "name": "x"}
    for token in ("0" * 64, house.office.vouch("other", content_hash, len(content)), "x" * 64):
        refused = house.call("record.keep-blob", {**claim, "upload_token": token})
        assert code_of(refused) == codes.TOKEN_INVALID
    smaller = {**claim, "size": 1, "upload_token": house.office.vouch(house.tenant, content_hash, len(content))}
    assert code_of(house.call("record.keep-blob", smaller)) == codes.TOKEN_INVALID
    assert fetch(house, content_hash).status_code == 404


def test_bytes_that_are_gone_cannot_be_put_on_the_record(house: House) -> None:
    token = house.office.vouch(house.tenant, HASH, len(HELLO))
    claim = {"content_hash": HASH, "size": len(HELLO), "media_type": "text/plain", "name": "x", "upload_token": token}
    assert code_of(house.call("record.keep-blob", claim)) == codes.RECORD_NOT_FOUND


# --- what is announced


@pytest.mark.parametrize(
    "how",
    [
        {"params": {"sha256": HASH}},
        {"params": {"sha256": HASH.upper()}},
        {"headers": {"Content-Digest": structured(HELLO)}},
        {"headers": {"Repr-Digest": f"sha-512=:AAAA:, {structured(HELLO)}"}},
        {"headers": {"Digest": structured(HELLO).replace(":", "").replace("sha", "SHA")}},
        {"headers": {"Content-Digest": "sha-512=:AAAA:"}},
    ],
)
def test_bytes_that_are_what_was_announced_are_kept(barn: House, how: dict[str, Any]) -> None:
    assert upload(barn, **how).status_code in (200, 201)


@pytest.mark.parametrize(
    "how",
    [
        {"params": {"sha256": "0" * 64}},
        {"headers": {"Content-Digest": structured(b"else")}},
        {"headers": {"Repr-Digest": structured(b"else")}},
        {"headers": {"Digest": structured(b"else").replace(":", "")}},
    ],
)
def test_bytes_that_are_not_what_was_announced_are_not_kept(barn: House, how: dict[str, Any]) -> None:
    answer = upload(barn, **how)
    assert (answer.status_code, code_of(answer)) == (422, codes.DIGEST_MISMATCH)
    assert answer.json()["details"]["received"] == HASH
    assert on_disk(barn) == []
    assert fetch(barn).status_code == 404


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"params": {"sha256": "abc"}}, codes.VALIDATION_ERROR),
        ({"params": {"sha256": "x" * 64}}, codes.VALIDATION_ERROR),
        ({"params": {"name": ""}}, codes.VALIDATION_ERROR),
        ({"params": {"name": "x" * 256}}, codes.VALIDATION_ERROR),
        ({"params": {"name": "../../etc/passwd"}}, codes.VALIDATION_ERROR),
        ({"params": {"name": "."}}, codes.VALIDATION_ERROR),
        ({"params": {"name": ".."}}, codes.VALIDATION_ERROR),
        ({"params": {"name": "a\r\nSet-Cookie: x"}}, codes.VALIDATION_ERROR),
        ({"params": {"name": "a\x00b"}}, codes.MALFORMED_INPUT),
        ({"params": [("name", "a"), ("name", "b")]}, codes.VALIDATION_ERROR),
        ({"params": {"tenant": "other"}}, codes.UNKNOWN_FIELD),
        ({"headers": {"Content-Type": "nonsense"}}, codes.VALIDATION_ERROR),
        ({"headers": {"Content-Type": "text/plain\tx"}}, codes.VALIDATION_ERROR),
        ({"headers": {"Content-Type": "multipart/form-data; boundary=x"}}, codes.UNSUPPORTED_MEDIA_TYPE),
        ({"headers": {"Content-Encoding": "gzip"}}, codes.UNSUPPORTED_MEDIA_TYPE),
        ({"headers": {"Content-Digest": "sha-256=:x:"}}, codes.MALFORMED_INPUT),
        ({"headers": {"Content-Digest": "sha-256=:AAAA:"}}, codes.MALFORMED_INPUT),
        ({"headers": {"Content-Digest": "sha-256"}}, codes.MALFORMED_INPUT),
        (
            {"headers": {"Content-Digest": structured(HELLO), "Repr-Digest": structured(b"else")}},
            codes.MALFORMED_INPUT,
        ),
        ({"headers": {"Idempotency-Key": "short"}}, codes.VALIDATION_ERROR),
        ({"headers": {"Engross-Dry-Run": "perhaps"}}, codes.VALIDATION_ERROR),
        ({"headers": {"Content-Range": "bytes 0-12/99"}}, codes.VALIDATION_ERROR),
        ({"headers": {"If-Match": '"1"'}}, codes.VALIDATION_ERROR),
        ({"headers": {"If-Match": "*"}}, codes.VALIDATION_ERROR),
    ],
)
def test_what_makes_no_sense_about_a_file_is_refused(barn: House, how: dict[str, Any], code: str) -> None:
    answer = upload(barn, **how)
    assert parse("problem", answer.json()) == ("I", code)
    assert fetch(barn).status_code == 404


@pytest.mark.parametrize("name", ["...", "..a", ".a", "a.", "a..", ".", "..", ".\\", "../", "ä", "a b"])
def test_a_name_is_that_of_a_file_and_of_no_folder(barn: House, name: str) -> None:
    kept = upload(barn, params={"name": name})
    if name in (".", "..", ".\\", "../"):
        assert kept.status_code == 400
    else:
        assert kept.json()["blob"]["name"] == name


def test_a_name_that_is_none_is_answered_with_what_a_name_may_be(barn: House) -> None:
    (error,) = upload(barn, params={"name": "../x"}).json()["errors"]
    assert "slash" in error["details"]["expected"]
    assert "^" not in error["details"]["expected"]


def test_a_kind_that_nobody_told_is_any_kind(barn: House) -> None:
    kept = upload(barn, headers={"Content-Type": "application/x-www-form-urlencoded"}).json()["blob"]
    assert (kept["media_type"], kept["name"]) == ("application/octet-stream", "file")


# --- too large, too slow, not all there


def test_a_file_that_says_it_is_too_large_is_not_let_in(barn: House) -> None:
    answer = barn.raw(barn.head("PUT", UPLOADS, "Content-Length: 3000001", "Expect: 100-continue"))
    assert b"100 Continue" not in answer
    assert status_of(answer) == 413
    assert on_disk(barn) == []


def test_a_file_that_grows_too_large_is_not_kept(barn: House) -> None:
    piece = b"186a0\r\n" + bytes(100_000) + b"\r\n"
    answer = barn.raw(barn.head("PUT", UPLOADS, "Transfer-Encoding: chunked"), *[piece] * 31)
    assert status_of(answer) == 413
    assert on_disk(barn) == []


def test_a_file_that_does_not_go_on_is_not_kept(barn: House) -> None:
    answer = barn.raw(barn.head("PUT", UPLOADS, "Content-Length: 20"), HELLO)
    assert status_of(answer) == 408
    assert orjson.loads(answer.partition(b"\r\n\r\n")[2])["code"] == codes.REQUEST_TOO_SLOW
    assert on_disk(barn) == []


def test_a_file_lies_on_the_disk_while_it_arrives_and_is_gone_when_the_client_is(barn: House) -> None:
    def staged() -> int:
        folder = barn.office.settings.data / "blobs" / barn.tenant
        return sum(path.stat().st_size for path in folder.glob(".arriving.*"))

    connection = barn.connect()
    connection.sendall(barn.head("PUT", UPLOADS, "Content-Length: 2560000") + LARGE[:2_000_000])
    eventually(lambda: staged() >= 1 << 20)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
    eventually(lambda: on_disk(barn) == [])
    assert barn.call("record.read-facts").json()["facts"] == []


def test_what_a_crash_left_is_gone_when_the_office_opens_again(folder: Path) -> None:
    office = Office(Settings(domains="", data=folder))
    with serving(office) as served:
        assert upload(served).status_code == 201
        left = folder / "blobs" / served.tenant / ".arriving.of-a-process-that-is-gone.staged"
        left.write_bytes(b"half a file")
    office.close()
    again = Office(Settings(domains="", data=folder))
    with serving(again) as served:
        assert not left.exists()
        assert fetch(served).content == HELLO
    again.close()


def upload_to_a_full_disk(disk: Disk) -> list[Any]:
    office = Office(Settings(domains="", data=disk.folder / "office"))
    seen: list[Any] = []
    with serving(office) as served:
        assert upload(served, b"first").status_code == 201
        full = upload(served, bytes(12_000_000))
        seen += [full.status_code, full.json()["code"], len(on_disk(served))]
        seen += [upload(served).status_code, fetch(served).content == HELLO]
    office.close()
    return seen


@pytest.mark.requirement("REL-04")
def test_a_file_that_finds_no_room_is_a_clean_failure_and_the_next_one_fits(small_disk: SmallDisk) -> None:
    assert small_disk.run(8, upload_to_a_full_disk) == [507, codes.STORE_FULL, 1, 201, True]


# --- fetching


def test_a_file_is_to_be_saved_and_never_shown(house: House) -> None:
    page = b"<script>alert(1)</script>"
    kept = upload(house, page, params={"name": 'ü "x";.html'}, headers={"Content-Type": "text/html; charset=utf-8"})
    back = fetch(house, kept.json()["blob"]["content_hash"])
    assert back.headers["content-type"] == "text/html"
    assert back.headers["content-disposition"] == "attachment; filename*=UTF-8''%C3%BC%20%22x%22%3B.html"
    assert back.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in back.headers["content-security-policy"]


def test_head_tells_about_a_file_without_sending_it(house: House) -> None:
    upload(house)
    head = house.ask("HEAD", f"{UPLOADS}/{HASH}")
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(HELLO)), b"")


def test_a_file_that_the_client_has_is_not_sent_again(house: House) -> None:
    upload(house)
    first = fetch(house)
    again = fetch(house, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for name in ("etag", "cache-control", "content-security-policy"):
        assert again.headers[name] == first.headers[name]
    assert again.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-Match": f'"{HASH}"'}, 200),
        ({"If-Match": f'"x", "{HASH}"'}, 200),
        ({"If-Match": "*"}, 200),
        ({"If-Match": '"x"'}, 412),
        ({"If-Match": f'W/"{HASH}"'}, 412),
        ({"If-Match": ""}, 412),
        ({"If-Match": '"x"', "If-None-Match": f'"{HASH}"'}, 412),
        ({"If-Match": f'"{HASH}"', "If-None-Match": f'"{HASH}"'}, 304),
        ({"If-Match": '"x"', "Range": "bytes=0-4"}, 412),
        ({"If-Match": '"x"', "Range": "bytes=99-"}, 412),
        ({"If-Match": f'"{HASH}"', "Range": "bytes=0-4"}, 206),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_whoever_asks_for_other_bytes_gets_none(barn: House, method: str, headers: dict[str, str], status: int) -> None:
    assert upload(barn).headers["etag"] == f'"{HASH}"'
    assert barn.ask(method, f"{UPLOADS}/{HASH}", headers=headers).status_code == status
    assert barn.ask(method, f"{UPLOADS}/{'0' * 64}", headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ("bytes=0-4", 0, 4),
        ("bytes=7-", 7, 12),
        ("bytes=-6", 7, 12),
        ("bytes=0-999", 0, 12),
        ("bytes=-999", 0, 12),
        ("bytes=12-12", 12, 12),
    ],
)
def test_a_part_of_a_file_can_be_asked_for(barn: House, wanted: str, first: int, last: int) -> None:
    upload(barn)
    part = fetch(barn, headers={"Range": wanted})
    assert (part.status_code, part.content) == (206, HELLO[first : last + 1])
    assert part.headers["content-range"] == f"bytes {first}-{last}/{len(HELLO)}"
    assert part.headers["content-length"] == str(last - first + 1)


@pytest.mark.parametrize("wanted", ["bytes=5-2", "bytes=a-b", "bytes=0-1,3-4", "pages=1-2", "bytes=", "bytes=-"])
def test_what_is_no_range_is_the_whole(barn: House, wanted: str) -> None:
    upload(barn)
    assert (fetch(barn, headers={"Range": wanted}).status_code, fetch(barn).content) == (200, HELLO)


@pytest.mark.parametrize("wanted", ["bytes=13-", "bytes=99-100", "bytes=-0"])
def test_a_range_behind_the_end_is_refused(barn: House, wanted: str) -> None:
    upload(barn)
    refused = fetch(barn, headers={"Range": wanted})
    assert (refused.status_code, code_of(refused)) == (416, codes.RANGE_NOT_SATISFIABLE)
    assert refused.headers["content-range"] == f"bytes */{len(HELLO)}"


def test_a_range_of_other_bytes_is_the_whole(barn: House) -> None:
    upload(barn)
    tag = fetch(barn).headers["etag"]
    assert fetch(barn, headers={"Range": "bytes=0-4", "If-Range": '"other"'}).status_code == 200
    assert fetch(barn, headers={"Range": "bytes=0-4", "If-Range": tag}).status_code == 206


@pytest.mark.parametrize("name", ["x", HASH[:-1], HASH.upper(), f"..%2f{HASH}", "%00"])
def test_what_is_no_digest_is_no_file(barn: House, name: str) -> None:
    assert fetch(barn, name).status_code in (400, 404)


def test_a_damaged_file_is_never_handed_out_as_whole(house: House) -> None:
    for content in (HELLO, LARGE):
        content_hash = upload(house, content).json()["blob"]["content_hash"]
        path = house.office.settings.data / "blobs" / house.tenant / content_hash[:2] / content_hash
        path.write_bytes(content[:-1] + b"?")
        if content == HELLO:
            answer = fetch(house, content_hash)
            assert (answer.status_code, code_of(answer)) == (500, codes.STORE_CORRUPT)
        else:
            with pytest.raises(httpx2.RemoteProtocolError):
                fetch(house, content_hash)
        # Sending it again mends it.
        assert upload(house, content).status_code == 200
        assert fetch(house, content_hash).content == content
    assert house.is_alive()


def test_a_client_that_leaves_in_the_middle_of_a_file_is_no_harm(house: House) -> None:
    content_hash = upload(house, LARGE).json()["blob"]["content_hash"]
    with house.connect() as connection:
        connection.sendall(house.head("GET", f"{UPLOADS}/{content_hash}"))
        assert connection.recv(12) == b"HTTP/1.1 200"
    assert house.is_alive()


def test_a_body_that_nobody_asked_for_does_not_cut_a_file_short(house: House) -> None:
    content_hash = upload(house, LARGE).json()["blob"]["content_hash"]
    with house.connect() as connection:
        connection.sendall(house.head("GET", f"{UPLOADS}/{content_hash}", "Transfer-Encoding: chunked"))
        for _ in range(3):
            connection.sendall(b"2\r\n{}\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert everything(connection).endswith(LARGE)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", UPLOADS, "OPTIONS, POST, PUT"),
        ("GET", UPLOADS, "OPTIONS, POST, PUT"),
        ("PUT", f"{UPLOADS}/{HASH}", "GET, HEAD, OPTIONS"),
    ],
)
def test_files_have_their_methods(barn: House, method: str, path: str, allowed: str) -> None:
    refused = barn.ask(method, path)
    assert (refused.status_code, refused.headers["allow"]) == (405, allowed)
    assert barn.ask("OPTIONS", path).headers["allow"] == allowed


def test_both_flows_of_files_can_be_found(house: House) -> None:
    assert {"record.keep-blob", "record.get-blob"} <= {flow.ref for flow in Desk(house.office).flows}
