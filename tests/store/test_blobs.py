"""Bytes on disk, named by what they are."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

from engross.replies import Failed, Invalid, codes
from engross.store import Blobs
from engross.store.blobs import PIECE
from tests.bed.unprivileged import Unprivileged

HELLO = sha256(b"hello").hexdigest()


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs", "acme")


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_bytes_come_back_by_their_digest(blobs: Blobs) -> None:
    assert blobs.put(b"hello") == HELLO
    assert blobs.get(HELLO) == b"hello"
    assert blobs.has(HELLO)


def test_putting_twice_is_putting_once(blobs: Blobs, tmp_path: Path) -> None:
    blobs.put(b"hello")
    (path,) = files(tmp_path)
    before = path.stat()
    assert blobs.put(b"hello") == HELLO
    assert files(tmp_path) == [path]
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_all_blobs_are_listed_in_order(blobs: Blobs) -> None:
    digests = sorted(blobs.put(bytes([number])) for number in range(20))
    assert list(blobs) == digests


def test_an_erased_blob_is_gone(blobs: Blobs) -> None:
    blobs.put(b"hello")
    assert blobs.erase(HELLO)
    assert not blobs.erase(HELLO)
    assert not blobs.has(HELLO)
    with pytest.raises(Invalid) as raised:
        blobs.get(HELLO)
    assert raised.value.code == codes.RECORD_NOT_FOUND


def test_damaged_bytes_are_never_handed_out(blobs: Blobs, tmp_path: Path) -> None:
    blobs.put(b"hello")
    files(tmp_path)[0].write_bytes(b"jello")
    with pytest.raises(Failed) as raised:
        blobs.get(HELLO)
    assert raised.value.code == codes.STORE_CORRUPT


def test_a_tenant_has_only_its_own_blobs(blobs: Blobs, tmp_path: Path) -> None:
    blobs.put(b"hello")
    other = Blobs(tmp_path / "blobs", "blue")
    assert not other.has(HELLO)
    assert list(other) == []
    assert not other.erase(HELLO)
    with pytest.raises(Invalid):
        other.get(HELLO)


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "..",
        "../../etc/passwd",
        HELLO.upper(),
        HELLO[:-1],
        HELLO + "0",
        f"../acme/{HELLO}",
        "/" + HELLO[1:],
        "\0" * 64,
    ],
)
def test_a_digest_that_is_none_is_not_found(blobs: Blobs, digest: str) -> None:
    blobs.put(b"hello")
    for attempt in (blobs.get, blobs.has, blobs.erase):
        with pytest.raises(Invalid) as raised:
            attempt(digest)
        assert raised.value.code == codes.RECORD_NOT_FOUND


def test_a_folder_is_no_tenants_unless_its_name_is(tmp_path: Path) -> None:
    with pytest.raises(Failed):
        Blobs(tmp_path, "../other")


@pytest.mark.faults
@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, codes.STORE_FULL), (errno.EIO, codes.STORE_UNAVAILABLE)])
def test_a_failing_disk_leaves_nothing_under_the_real_name(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: str
) -> None:
    def refuse(*args: object) -> None:
        raise OSError(number, os.strerror(number))

    (tmp_path / "blobs" / "acme" / HELLO[:2]).mkdir(parents=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(Failed) as raised:
            blobs.put(b"hello")
    assert raised.value.code == code
    assert files(tmp_path) == []
    assert blobs.put(b"hello") == HELLO


@pytest.mark.faults
def test_a_crash_before_the_rename_leaves_nothing_under_the_real_name(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = []

    def crash(source: Path, target: Path) -> None:
        staged.append(source.read_bytes())
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", crash)
        # A process that dies here cannot tidy up either.
        patch.setattr(os, "unlink", lambda path: None)
        with pytest.raises(KeyboardInterrupt):
            blobs.put(b"hello")
    assert staged == [b"hello"]
    assert not blobs.has(HELLO)
    assert list(blobs) == []
    assert blobs.put(b"hello") == HELLO
    assert list(blobs) == [HELLO]


def test_a_folder_of_a_new_blob_is_synced_up_to_one_that_was_there(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    sync = os.fsync

    def note(handle: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{handle}")))
        sync(handle)

    monkeypatch.setattr(os, "fsync", note)
    blobs.put(b"hello")
    folders = [path for path in synced if path.is_dir()]
    assert {
        tmp_path,
        tmp_path / "blobs",
        tmp_path / "blobs/acme",
        tmp_path / "blobs/acme" / HELLO[:2],
    } <= set(folders)


@pytest.mark.requirement("REL-04")
def test_a_folder_that_cannot_be_written_is_a_clean_failure(tmp_path: Path, unprivileged: Unprivileged) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Failed) as raised:
        unprivileged.run(put, tmp_path)
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert files(tmp_path) == []


def put(folder: Path) -> str:
    return Blobs(folder, "acme").put(b"hello")


# --- piece by piece


def test_pieces_become_a_blob_when_they_are_kept(blobs: Blobs, tmp_path: Path) -> None:
    with blobs.arriving() as arriving:
        for piece in (b"hel", b"", b"lo"):
            arriving.write(piece)
        assert (arriving.size, arriving.digest) == (5, HELLO)
        assert not blobs.has(HELLO)
        assert list(blobs) == []
        assert arriving.keep() == HELLO
    assert blobs.get(HELLO) == b"hello"
    assert [path.name for path in files(tmp_path)] == [HELLO]


def test_what_is_left_before_it_is_kept_was_never_there(blobs: Blobs, tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), blobs.arriving() as arriving:
        arriving.write(b"hello")
        raise KeyboardInterrupt
    assert files(tmp_path) == []


def test_what_arrives_again_mends_what_was_damaged(blobs: Blobs, tmp_path: Path) -> None:
    blobs.put(b"hello")
    files(tmp_path)[0].write_bytes(b"jello")
    with blobs.arriving() as arriving:
        arriving.write(b"hello")
        arriving.keep()
    assert blobs.get(HELLO) == b"hello"


def test_two_may_arrive_at_once(blobs: Blobs, tmp_path: Path) -> None:
    with blobs.arriving() as one, blobs.arriving() as other:
        one.write(b"hello")
        other.write(b"hello")
        assert one.keep() == other.keep() == HELLO
    assert [path.name for path in files(tmp_path)] == [HELLO]


@pytest.mark.faults
@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, codes.STORE_FULL), (errno.EIO, codes.STORE_UNAVAILABLE)])
def test_a_failing_disk_leaves_nothing_of_what_arrives(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: str
) -> None:
    def refuse(*args: object) -> None:
        raise OSError(number, os.strerror(number))

    def arrive() -> None:
        with blobs.arriving() as arriving, monkeypatch.context() as patch:
            patch.setattr(os, call, refuse)
            arriving.write(b"hello")
            arriving.keep()

    with pytest.raises(Failed) as raised:
        arrive()
    assert raised.value.code == code
    assert files(tmp_path) == []


def test_a_disk_that_takes_only_some_of_a_piece_gets_the_rest_of_it(
    blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, piece: write(handle, bytes(piece)[:2]))
    with blobs.arriving() as arriving:
        arriving.write(b"hello")
        arriving.keep()
    assert blobs.get(HELLO) == b"hello"


def test_only_what_nobody_writes_any_more_is_dropped(blobs: Blobs, tmp_path: Path) -> None:
    with blobs.arriving() as arriving:
        (left,) = files(tmp_path)
        abandoned = left.with_name(".arriving.abandoned.staged")
        abandoned.write_bytes(b"half")
        assert blobs.drop_abandoned() == 1
        assert files(tmp_path) == [left]
        arriving.write(b"hello")
        arriving.keep()
    assert blobs.drop_abandoned() == 0
    assert list(blobs) == [HELLO]


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_a_blob_can_be_read_piece_by_piece(blobs: Blobs, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + bytes(size % 256)
    digest = blobs.put(content)
    pieces = list(blobs.pieces(digest))
    assert b"".join(pieces) == content
    assert all(0 < len(piece) <= PIECE for piece in pieces)


@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 3), (4, None), (0, 4), (5, None)])
def test_a_part_of_a_blob_can_be_read(blobs: Blobs, first: int, last: int | None) -> None:
    blobs.put(b"hello")
    end = None if last is None else last + 1
    assert b"".join(blobs.pieces(HELLO, first, last)) == b"hello"[first:end]


def test_the_end_of_a_damaged_blob_is_kept_back(blobs: Blobs, tmp_path: Path) -> None:
    content = bytes(2 * PIECE + 10)
    digest = blobs.put(content)
    for damaged in (content[:-1] + b"?", content[:-1], content + b"?", b""):
        files(tmp_path)[0].write_bytes(damaged)
        seen: list[bytes] = []
        with pytest.raises(Failed) as raised:
            seen.extend(blobs.pieces(digest))
        assert raised.value.code == codes.STORE_CORRUPT
        assert sum(map(len, seen)) < len(content)


def test_what_is_no_blob_has_no_pieces(blobs: Blobs) -> None:
    for digest in (HELLO, "..", ""):
        with pytest.raises(Invalid) as raised:
            blobs.pieces(digest)
        assert raised.value.code == codes.RECORD_NOT_FOUND
