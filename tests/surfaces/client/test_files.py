"""Files: bytes in and out, wherever the office is."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from engross.plainfile import NoPlainFile
from engross.surfaces.client import Client
from tests.bed.served import Served
from tests.surfaces.client.conftest import At

LARGE = bytes(range(256)) * 8_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "report.pdf"
    path.write_bytes(LARGE)
    return path


def test_bytes_a_path_and_a_stream_come_to_the_same(clara: Client, file: Path) -> None:
    digest = sha256(LARGE).hexdigest()
    first = clara.upload(file)
    assert (first.message_key, first.data["blob"]["content_hash"]) == ("CREATED", digest)
    assert (first.data["blob"]["name"], first.data["blob"]["media_type"]) == ("report.pdf", "application/pdf")
    assert first.data["blob"]["size"] == len(LARGE)
    for content in (LARGE, str(file), BytesIO(LARGE)):
        again = clara.upload(content)
        assert (again.message_key, again.data["blob"]) == ("NO_EFFECT", first.data["blob"])
    with file.open("rb") as stream:
        assert clara.upload(stream).data["blob"]["content_hash"] == digest


def test_what_was_uploaded_comes_back_into_a_file_or_a_stream(clara: Client, tmp_path: Path) -> None:
    digest = clara.upload(LARGE, name="all.bin").data["blob"]["content_hash"]
    target = tmp_path / "back.bin"
    fetched = clara.download(digest, target)
    assert (fetched.ok, fetched.data["blob"]["name"], target.read_bytes()) == (True, "all.bin", LARGE)
    stream = BytesIO()
    assert clara.download(digest, stream).ok
    assert stream.getvalue() == LARGE


def test_nothing_is_a_file_too(clara: Client, tmp_path: Path) -> None:
    digest = clara.upload(b"", name="empty.txt", media_type="text/plain").data["blob"]["content_hash"]
    assert clara.download(digest, tmp_path / "empty").ok
    assert (tmp_path / "empty").read_bytes() == b""


def test_a_name_that_is_none_is_invalid(clara: Client) -> None:
    assert clara.upload(b"x", name="../x").reply_type == "I"
    assert clara.upload(b"x", media_type="no media type at all").reply_type == "I"


@pytest.mark.parametrize("digest", ["0" * 64, "x", "../../etc/passwd", ""])
def test_what_is_not_there_leaves_the_target_as_it_was(clara: Client, tmp_path: Path, digest: str) -> None:
    target, beside = tmp_path / "target", tmp_path / "target.part"
    for file in (target, beside):
        file.write_bytes(b"before")
    assert clara.download(digest, target).reply_type == "I"
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == {target: b"before", beside: b"before"}


def test_a_link_stays_and_the_file_behind_it_is_written(clara: Client, tmp_path: Path) -> None:
    digest = clara.upload(LARGE).data["blob"]["content_hash"]
    there, link = tmp_path / "there", tmp_path / "link"
    link.symlink_to("there")
    for _ in ("leading nowhere", "to a file"):
        assert clara.download(digest, link).ok
        assert (link.is_symlink(), there.is_symlink(), there.read_bytes() == LARGE) == (True, False, True)
        there.write_bytes(b"before")


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to(path)])
def test_what_is_no_plain_file_is_left_as_it_is(clara: Client, tmp_path: Path, make: Callable[[Path], object]) -> None:
    digest = clara.upload(LARGE).data["blob"]["content_hash"]
    link, target = tmp_path / "link", tmp_path / "target"
    make(target)
    link.symlink_to(target)
    before = target.lstat()
    for place in (target, str(target), link):
        with pytest.raises(NoPlainFile):
            clara.download(digest, place)
    assert (target.lstat().st_ino, target.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert sorted(tmp_path.iterdir()) == [link, target]


def stored(served: Served, tenant: str) -> list[str]:
    """The names of all files that the office keeps for a tenant."""
    return sorted(path.name for path in (served.folder / "blobs" / tenant).rglob("*") if path.is_file())


def test_who_may_not_write_is_refused_and_the_bytes_are_not_kept(served: Served, at: At, way: str, tenant: str) -> None:
    vera = at(way, "vera", "human", "viewer", tenant=tenant)
    assert vera.upload(LARGE).reply_type == "D"
    assert stored(served, tenant) == []


def test_who_may_not_write_is_refused_here_before_anything_is_read(at: At, tenant: str) -> None:
    vera = at("embedded", "vera", "human", "viewer", tenant=tenant)
    stream = BytesIO(LARGE)
    assert vera.upload(stream).reply_type == "D"
    assert stream.tell() == 0


def test_a_file_that_is_not_there_is_a_python_error(clara: Client, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        clara.upload(tmp_path / "nowhere")


def test_a_tenant_does_not_see_the_files_of_another(at: At, way: str, tenant: str) -> None:
    digest = at(way, tenant=tenant).upload(LARGE).data["blob"]["content_hash"]
    stranger = at(way, "sid", tenant=f"{tenant}-other")
    assert stranger.download(digest, BytesIO()).message_key == "RECORD_NOT_FOUND"


def test_a_repeated_upload_with_its_key_is_a_replay(served: Served, clara: Client, tenant: str) -> None:
    first = clara.upload(b"once", client_request_id="upload-00001")
    again = clara.upload(b"once", client_request_id="upload-00001")
    assert again.data["idempotent_replay"] is True
    assert again.data["blob"] == first.data["blob"]
    assert clara.upload(b"twice", client_request_id="upload-00001").message_key == "IDEMPOTENCY_KEY_REUSED"
    assert stored(served, tenant) == [sha256(b"once").hexdigest()]


@pytest.mark.parametrize(
    "told",
    [{"media_type": "é/x"}, {"media_type": "a\nb"}, {"client_request_id": "é" * 9}, {"name": "\ud800"}, {"name": ".."}],
)
def test_what_nobody_can_say_about_a_file_is_invalid(clara: Client, told: dict[str, str]) -> None:
    assert clara.upload(b"x", **told).reply_type == "I"
