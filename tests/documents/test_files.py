"""What the disk does to a write, and what a write does to the disk."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from engross.calls import Principal
from engross.replies import structured
from engross.store import confined
from engross.surfaces.client import Client, connect
from tests.bed.offices import Offices
from tests.bed.served import PATHS, ROOT, wait_for
from tests.bed.small_disk import Disk, SmallDisk
from tests.bed.unprivileged import Unprivileged
from tests.documents.archive import PLAN, Archive, digest, domain, done, envelope

CLARA = Principal("clara", "human", frozenset({"curator"}))
BIG = "===BIG===\n" + "".join(f'K{number}::"{"x" * 80}"\n' for number in range(20_000)) + "===END===\n"


def office_at(data: Path, **ways: Any) -> Client:
    """An office with documents, in a process that has nothing else."""
    return connect(data, domain(data, **ways), principal=CLARA, seal_seconds=3600.0)


def told(client: Client, path: str, **arguments: Any) -> dict[str, Any]:
    """What octave_write answers; only what pickles."""
    answer = structured(client.documents.octave_write(target_path=path, **arguments), "documents")
    return {name: answer[name] for name in ("status", "validation_status")} | {
        "errors": [error["code"] for error in answer["errors"]],
        "type": answer["reply"]["reply_type"],
    }


@pytest.mark.requirement("DOC-11")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_keeps_its_mode(archive: Archive, mode: int) -> None:
    archive.outside(PLAN).chmod(mode)
    done(archive.write(changes={"STATUS": "DONE"}))
    assert stat.S_IMODE(archive.file().stat().st_mode) == mode


@pytest.mark.requirement("DOC-11")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_a_new_file_has_what_the_umask_leaves(archive: Archive, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        archive.written()
    finally:
        os.umask(before)
    assert stat.S_IMODE(archive.file().stat().st_mode) == mode


@pytest.mark.requirement("DOC-11")
def test_a_file_is_synced_and_then_renamed_and_then_its_folder_synced(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.written()
    steps: list[tuple[str, bool]] = []
    root = archive.root.stat().st_ino

    def noted(name: str, real: Any) -> Any:
        def act(*args: Any, **options: Any) -> Any:
            if name == "fsync":
                steps.append((name, os.fstat(args[0]).st_ino == root))
            elif options.get("dst_dir_fd") is not None:
                steps.append((name, os.fstat(options["dst_dir_fd"]).st_ino == root))
            return real(*args, **options)

        return act

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", noted("fsync", os.fsync))
        patch.setattr(os, "replace", noted("replace", os.replace))
        done(archive.write(changes={"STATUS": "DONE"}))
    renamed = steps.index(("replace", True))
    assert steps[renamed - 1 : renamed + 2] == [("fsync", False), ("replace", True), ("fsync", True)]


@pytest.mark.requirement("DOC-11")
def test_whoever_reads_meanwhile_sees_one_version_or_the_other(archive: Archive) -> None:
    texts = ["".join(f"K{number}::{word}\n" for number in range(2000)) for word in ("one", "two")]
    archive.written(content=texts[0])
    allowed = {archive.file().read_bytes()}
    archive.written(content=texts[1])
    allowed.add(archive.file().read_bytes())
    seen: list[bool] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            seen.append(archive.file().read_bytes() in allowed)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(6):
        done(archive.write(content=texts[number % 2]))
    stop.set()
    watcher.join()
    assert seen
    assert all(seen)
    assert [one.name for one in archive.root.iterdir()] == ["plan.oct.md"]


@pytest.mark.requirement("DOC-11")
@pytest.mark.parametrize("nameless", [True, False])
def test_asking_the_disk_for_room_leaves_nothing_to_be_found(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    archive.written()
    seen: list[list[str]] = []
    allocate = os.posix_fallocate

    def looked(*given: int) -> None:
        seen.append(os.listdir(archive.root))
        allocate(*given)

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", looked)
        if not nameless:
            patch.setattr(confined, "NAMELESS", None)
        done(archive.write(changes={"STATUS": "DONE"}))
    assert seen == [["plan.oct.md"]]


def write_on_a_full_disk(disk: Disk, elsewhere: Path) -> tuple[dict, bytes, list[str], dict]:
    """The documents on the small disk, the office beside it."""
    root = disk.folder / "root"
    root.mkdir()
    with office_at(elsewhere, roots=(root,)) as client:
        assert client.documents.octave_write(target_path="a.oct.md", content=PLAN).ok
        disk.fill()
        refused = told(client, "a.oct.md", content=BIG)
        kept, names = (root / "a.oct.md").read_bytes(), sorted(os.listdir(root))
        disk.make_room()
        return refused, kept, names, told(client, "a.oct.md", content=PLAN.replace("DRAFT", "DONE"))


def office_on_a_full_disk(disk: Disk) -> tuple[dict, bytes, list[str], dict]:
    """All of the office on the small disk."""
    with office_at(disk.folder / "office") as client:
        root = disk.folder / "office" / "documents" / "main"
        assert client.documents.octave_write(target_path="a.oct.md", content=PLAN).ok
        disk.fill()
        refused = told(client, "a.oct.md", content=BIG)
        kept, names = (root / "a.oct.md").read_bytes(), sorted(os.listdir(root))
        disk.make_room()
        return refused, kept, names, told(client, "a.oct.md", content=PLAN.replace("DRAFT", "DONE"))


@pytest.mark.faults
@pytest.mark.requirement("DOC-11", "DOC-12", "REL-04")
def test_a_full_disk_is_told_and_the_old_file_is_whole(small_disk: SmallDisk, tmp_path: Path) -> None:
    outcomes = [
        small_disk.run(8, write_on_a_full_disk, tmp_path / "office"),
        small_disk.run(16, office_on_a_full_disk),
    ]
    for refused, kept, names, after in outcomes:
        assert (refused["status"], refused["errors"], refused["type"]) == ("error", ["E_WRITE"], "E")
        assert kept == PLAN.encode()
        assert names == ["a.oct.md"]
        assert after["status"] == "success"


def write_past_a_quota(data: Path) -> tuple[dict, bytes, list[str]]:
    """A process that may write no large file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with office_at(data) as client:
        root = data / "documents" / "main"
        assert client.documents.octave_write(target_path="a.oct.md", content=PLAN).ok
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        refused = told(client, "a.oct.md", content=BIG)
        return refused, (root / "a.oct.md").read_bytes(), sorted(os.listdir(root))


@pytest.mark.requirement("DOC-12", "REL-04")
def test_a_quota_is_told_like_a_full_disk(unprivileged: Unprivileged, tmp_path: Path) -> None:
    refused, kept, names = unprivileged.run(write_past_a_quota, tmp_path / "office")
    assert refused["errors"] == ["E_WRITE"]
    assert (kept, names) == (PLAN.encode(), ["a.oct.md"])


def write_where_one_may_not(data: Path) -> list[dict]:
    """Folders and files with rights taken away."""
    with office_at(data) as client:
        root = data / "documents" / "main"
        assert client.documents.octave_write(target_path="a/b.oct.md", content=PLAN).ok
        outcomes = []
        (root / "a").chmod(0o500)
        outcomes.append(told(client, "a/b.oct.md", content=BIG))
        outcomes.append(told(client, "a/c.oct.md", content=PLAN))
        (root / "a").chmod(0o700)
        (root / "a" / "b.oct.md").chmod(0o000)
        outcomes.append(told(client, "a/b.oct.md", changes={"STATUS": "X"}))
        (root / "a" / "b.oct.md").chmod(0o600)
        (root / "a").chmod(0o000)
        outcomes.append(told(client, "a/b.oct.md", content=PLAN))
        (root / "a").chmod(0o700)
        assert (root / "a" / "b.oct.md").read_text() == PLAN
        return outcomes


@pytest.mark.requirement("DOC-12")
def test_folders_and_files_without_rights_are_told_apart(unprivileged: Unprivileged, tmp_path: Path) -> None:
    outcomes = unprivileged.run(write_where_one_may_not, tmp_path / "office")
    assert [one["errors"] for one in outcomes] == [["E_WRITE"], ["E_WRITE"], ["E_PATH"], ["E_PATH"]]
    assert [one["type"] for one in outcomes] == ["E", "E", "I", "I"]


@pytest.mark.requirement("DOC-08", "DOC-12")
def test_a_file_that_changes_between_reading_and_writing_is_left_alone(archive: Archive) -> None:
    base = archive.written()["canonical_hash"]
    theirs = PLAN.replace("db1", "theirs")
    holder = apsw.Connection(str(archive.folder / "office.db"))
    holder.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor() as pool:
        # The write has read the file, and waits for the store.
        waiting = pool.submit(
            archive.write, changes={"STATUS": "DONE"}, base_hash=base, client_request_id="overtaken-1"
        )
        blob = archive.folder / "blobs" / "main" / digest(PLAN.replace("DRAFT", "DONE"))[:2]
        wait_for(blob.exists)
        archive.outside(theirs)
        holder.execute("ROLLBACK")
        holder.close()
        answer = waiting.result()
    told = envelope(answer)
    assert [error["code"] for error in told["errors"]] == ["E_HASH"]
    assert told["current_hash"] == digest(theirs)
    assert "+  HOST::theirs\n" in told["diff"]
    assert archive.text() == theirs
    assert archive.history()[0]["published"] == "conflict"
    again = archive.write(changes={"STATUS": "DONE"}, base_hash=base, client_request_id="overtaken-1")
    assert [error["code"] for error in envelope(again)["errors"]] == ["E_HASH"]
    done(archive.write(changes={"STATUS": "DONE"}, base_hash=told["current_hash"]))
    assert archive.text() == theirs.replace("DRAFT", "DONE")


@pytest.mark.requirement("DOC-08")
def test_of_many_writes_on_one_hash_one_is_made(archives: Archive) -> None:
    base = archives.written()["canonical_hash"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda number: archives.write(changes={"STATUS": f"S{number}"}, base_hash=base), range(8))
        )
    assert sorted(answer.message_key for answer in answers) == ["E_HASH"] * 7 + ["UPDATED"]
    assert len(archives.history()) == 2


def test_writes_of_different_fields_that_meet_are_all_kept(archives: Archive) -> None:
    archives.written()
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda number: archives.write(changes={f"F{number}": number}), range(6)))
    assert all(answer.ok for answer in answers), answers
    text = archives.text()
    assert [f"F{number}::{number}\n" in text for number in range(6)] == [True] * 6
    assert archives.history()[0]["hash"] == digest(text)


WRITER = """
import sys
from pathlib import Path
from tests.documents.test_files import office_at
data, root, name = map(Path, sys.argv[1:])
with office_at(data, roots=(root,)) as client:
    for number in range(12):
        while True:
            read = client.documents.read_document(path="plan.oct.md").data
            answer = client.documents.octave_write(
                target_path="plan.oct.md", changes={f"{name}_{number}": number}, base_hash=read["hash"]
            )
            if answer.ok:
                break
            assert answer.message_key == "E_HASH", answer
"""


@pytest.mark.faults
@pytest.mark.requirement("DOC-08", "REL-03")
@pytest.mark.parametrize("offices", [1, 2])
def test_processes_that_write_one_document_lose_nothing(tmp_path: Path, offices: int) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "plan.oct.md").write_text(PLAN)
    environment = {**os.environ, "PYTHONPATH": PATHS}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / f"office{number % offices}"), str(root), f"W{number}"],
            cwd=ROOT,
            env=environment,
        )
        for number in range(2)
    ]
    assert [writer.wait(50) for writer in writers] == [0, 0]
    text = (root / "plan.oct.md").read_text()
    wanted = {f"W{writer}_{number}::{number}" for writer in range(2) for number in range(12)}
    assert wanted <= set(text.split("\n"))


CRASH = """
import os, sys
from pathlib import Path
from tests.documents.test_files import office_at
from tests.documents.archive import PLAN
import engross.pipeline.afterwards as afterwards
client = office_at(Path(sys.argv[1]))
assert client.documents.octave_write(target_path="plan.oct.md", content=PLAN).ok
publish, replace = afterwards.publish, os.replace

def ends(*given, **options):
    os._exit(9)

def ends_when_renamed(*given, **options):
    replace(*given, **options)
    os._exit(9)

def staging_ends(*given):
    os.fsync = ends
    publish(*given)

def renaming_ends(*given):
    os.replace = ends_when_renamed
    publish(*given)

afterwards.publish = {"before": ends, "staging": staging_ends, "renamed": renaming_ends}[sys.argv[2]]
client.documents.octave_write(target_path="plan.oct.md", changes={"STATUS": "DONE"})
"""


@pytest.mark.faults
@pytest.mark.requirement("DOC-11", "REL-01")
@pytest.mark.parametrize("point", ["before", "staging", "renamed"])
def test_a_write_that_was_committed_is_published_after_a_crash(tmp_path: Path, local: Offices, point: str) -> None:
    command = [sys.executable, "-c", CRASH, str(tmp_path / "office"), point]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": PATHS}, capture_output=True)
    assert ended.returncode == 9, ended.stderr
    file = tmp_path / "office" / "documents" / "main" / "plan.oct.md"
    assert file.read_text() in (PLAN, PLAN.replace("DRAFT", "DONE"))
    archive = Archive(local)
    assert archive.text() == PLAN.replace("DRAFT", "DONE")
    assert [one.name for one in archive.root.iterdir()] == ["plan.oct.md"]
    assert [one["published"] for one in archive.history()] == ["done", "done"]
