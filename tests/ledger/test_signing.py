"""The office's own key."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engross.ledger import OfficeKey, signed_by
from engross.replies import Failed, codes


def test_a_key_is_made_once_and_read_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "office.key"
    made = OfficeKey.at(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size == 32
    assert OfficeKey.at(path).public == made.public
    assert [entry.name for entry in tmp_path.iterdir()] == ["office.key"]


def test_of_many_who_make_the_key_at_once_one_wins(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: OfficeKey.at(tmp_path / "office.key").public, range(40)))
    assert len(set(keys)) == 1


@pytest.mark.faults
def test_a_crash_while_the_key_is_made_leaves_no_half_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Crash(BaseException):
        pass

    def crash(handle: int) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", crash)
        with pytest.raises(Crash):
            OfficeKey.at(tmp_path / "office.key")
    assert not (tmp_path / "office.key").exists()
    OfficeKey.at(tmp_path / "office.key")


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "office.key").write_bytes(content)
    with pytest.raises(Failed) as raised:
        OfficeKey.at(tmp_path / "office.key")
    assert raised.value.code == codes.CONFIG_INVALID
    assert raised.value.data is not None
    assert raised.value.data["file"] == str(tmp_path / "office.key")
    assert f"{len(content)} bytes" in raised.value.data["problem"]
    assert "backup" in raised.value.data["hint"]


def test_only_the_holder_of_the_key_can_sign() -> None:
    key, other = OfficeKey(b"a" * 32), OfficeKey(b"b" * 32)
    signature = key.sign(b"text")
    assert signed_by(key.public, b"text", signature)
    assert not signed_by(other.public, b"text", signature)
    assert not signed_by(key.public, b"test", signature)
    assert not signed_by(key.public, b"text", other.sign(b"text"))


@pytest.mark.parametrize(("public", "signature"), [("", ""), ("zz", "00"), ("ab" * 32, "zz"), ("ab" * 31, "cd")])
def test_nonsense_is_no_signature(public: str, signature: str) -> None:
    assert not signed_by(public, b"text", signature)


def test_each_purpose_has_a_secret_of_its_own() -> None:
    key = OfficeKey(b"a" * 32)
    secrets = {
        key.secret("plan token"),
        key.secret("other"),
        OfficeKey(b"b" * 32).secret("plan token"),
        b"a" * 32,
    }
    assert len(secrets) == 4
