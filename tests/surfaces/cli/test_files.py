"""Files from a shell: in by name or by pipe, and out again."""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from tests.bed.served import Served
from tests.surfaces.cli.shell import COMMAND, Shell, plain, run

LARGE = bytes(range(256)) * 30_000
HASH = sha256(LARGE).hexdigest()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(LARGE)
    return path


def test_a_file_goes_in_and_comes_out(shell: Shell, file: Path, tmp_path: Path) -> None:
    kept = shell.run("upload", file, "--json")
    assert (kept.code, kept.key) == (0, "CREATED")
    blob = kept.json["blob"]
    assert (blob["content_hash"], blob["name"], blob["media_type"]) == (HASH, "table.csv", "text/csv")
    fetched = shell.run("download", HASH, tmp_path / "back")
    assert (fetched.code, (tmp_path / "back").read_bytes() == LARGE) == (0, True)
    assert HASH in fetched.out
    assert shell.run("upload", file, "--json").key == "NO_EFFECT"


def test_a_file_goes_in_and_comes_out_by_pipe(local: Shell) -> None:
    words = [*COMMAND, "upload", "-", "--name", "piped.bin", *local.there, "--json"]
    done = subprocess.run(words, input=LARGE, capture_output=True, env=plain(), check=False)
    assert done.returncode == 0
    back = subprocess.run(
        [*COMMAND, "download", HASH, "-", *local.there], capture_output=True, env=plain(), check=False
    )
    assert (back.returncode, back.stdout == LARGE, back.stderr) == (0, True, b"")


def test_an_erased_file_is_off_the_disk_when_the_command_ends(shell: Shell, file: Path) -> None:
    assert shell.run("upload", file).code == 0
    assert len([*shell.folder.glob(f"blobs/main/*/{HASH}")]) == 1
    erased = shell.run("record", "erase", "--aggregate", "record", "--subject", HASH, "--yes", "--json")
    assert (erased.code, erased.key) == (0, "ERASED")
    assert [*shell.folder.glob("blobs/main/*/*")] == []
    assert run("verify", *shell.here).code == 0
    assert shell.run("upload", file, "--json").key == "CREATED"


def test_a_served_office_takes_them_too(served: Served, file: Path, tmp_path: Path) -> None:
    far = ("--url", served.url, "--token", served.owner)
    assert run("upload", file, *far, "--json").json["blob"]["content_hash"] == HASH
    assert run("download", HASH, tmp_path / "back", *far).code == 0
    assert (tmp_path / "back").read_bytes() == LARGE


def test_what_is_not_there_is_invalid(local: Shell, tmp_path: Path) -> None:
    assert local.run("upload", tmp_path / "nowhere").code == 2
    assert local.run("upload", tmp_path).code == 2
    assert local.run("call", "record.who-am-i").code == 0
    gone = local.run("download", HASH, tmp_path / "target", "--json")
    assert (gone.code, gone.key) == (2, "RECORD_NOT_FOUND")
    assert not (tmp_path / "target").exists()
    assert local.run("download", HASH, "-").code == 2


def test_who_may_not_write_uploads_nothing(local: Shell, file: Path) -> None:
    refused = local.run("upload", file, "--role", "viewer", "--json")
    assert (refused.code, refused.json["reply"]["reply_type"]) == (3, "D")


def test_a_target_that_cannot_be_written_is_said_so(local: Shell, file: Path, tmp_path: Path) -> None:
    assert local.run("upload", file, "--json").code == 0
    done = local.spawn("download", HASH, tmp_path / "no folder" / "target")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_a_pipe_is_not_written_over(local: Shell, file: Path, tmp_path: Path) -> None:
    assert local.run("upload", file).code == 0
    os.mkfifo(tmp_path / "pipe")
    assert local.run("download", HASH, tmp_path / "pipe").code == 2
    assert (tmp_path / "pipe").is_fifo()
