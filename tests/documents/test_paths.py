"""Where documents may lie: inside the roots, and nowhere else, whatever is tried."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from engross.store import Blobs, Publication
from engross.store.confined import Astray, descend
from tests.bed.offices import Offices
from tests.documents.archive import PLAN, Archive, done, envelope, refused

pytestmark = pytest.mark.requirement("DOC-12", "REL-10")


@pytest.mark.parametrize(
    "path",
    [
        *("../plan.oct.md", "a/../../plan.oct.md", "a/../plan.oct.md", "/etc/plan.oct.md", "/plan.oct.md"),
        *("plan.txt", "plan", ".oct.md", ".md", "plan.OCT.MD", "plan.oct.md/", "a\\b.oct.md", "a\nb.oct.md"),
        *("plan.oct.md\u202e", "a" * 300 + ".oct.md", "~/../plan.oct.md", "."),
    ],
)
def test_a_path_that_no_document_may_have_is_refused(archive: Archive, path: str) -> None:
    assert {code for code, _ in refused(archive.write(path, content=PLAN))} == {"E_PATH"}
    assert list(archive.root.rglob("*")) == []


@pytest.mark.parametrize("path", ["plan.oct.md", "plan.octave", "plan.md", "ä/ö.oct.md", "a b/c.md", "./x/plan.oct.md"])
def test_a_path_that_a_document_may_have_is_taken(archive: Archive, path: str) -> None:
    done(archive.write(path, content=PLAN))
    assert archive.text(path) == PLAN


def test_a_link_to_a_file_is_neither_read_nor_written(archive: Archive, tmp_path: Path) -> None:
    outside = tmp_path / "outside.oct.md"
    outside.write_text(PLAN)
    archive.root.mkdir(parents=True)
    archive.file().symlink_to(outside)
    assert {code for code, _ in refused(archive.write(content=PLAN.replace("DRAFT", "X")))} == {"E_PATH"}
    assert refused(archive.clara.documents.read_document(path="plan.oct.md"))[0][0] == "E_PATH"
    assert outside.read_text() == PLAN
    assert archive.file().is_symlink()


@pytest.mark.parametrize("inside", [True, False])
def test_a_link_to_a_folder_is_not_walked_wherever_it_leads(archive: Archive, tmp_path: Path, inside: bool) -> None:
    target = archive.root / "real" if inside else tmp_path / "outside"
    target.mkdir(parents=True)
    archive.root.mkdir(parents=True, exist_ok=True)
    (archive.root / "link").symlink_to(target)
    assert {code for code, _ in refused(archive.write("link/plan.oct.md", content=PLAN))} == {"E_PATH"}
    assert list(target.iterdir()) == []


def test_a_link_that_leads_nowhere_is_refused_too(archive: Archive, tmp_path: Path) -> None:
    archive.root.mkdir(parents=True)
    archive.file().symlink_to(tmp_path / "nowhere.oct.md")
    assert {code for code, _ in refused(archive.write(content=PLAN))} == {"E_PATH"}
    assert not (tmp_path / "nowhere.oct.md").exists()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_plain_file_is_refused(archive: Archive, kind: str) -> None:
    archive.root.mkdir(parents=True)
    if kind == "folder":
        archive.file().mkdir()
    else:
        os.mkfifo(archive.file())
    assert {code for code, _ in refused(archive.write(content=PLAN))} == {"E_PATH"}


def test_a_file_on_the_way_is_no_folder(archive: Archive) -> None:
    archive.written("a.oct.md")
    assert {code for code, _ in refused(archive.write("a.oct.md/b.oct.md", content=PLAN))} == {"E_PATH"}


def test_roots_that_the_operator_names_take_the_place_of_the_usual_one(local: Offices, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    archive = Archive(local, roots=(first, second))
    assert done(archive.write("a.oct.md", content=PLAN)).data["path"] == str(first / "a.oct.md")
    (second / "b.oct.md").write_text(PLAN)
    assert done(archive.write("b.oct.md", changes={"STATUS": "X"})).data["path"] == str(second / "b.oct.md")
    assert done(archive.write(str(second / "c.oct.md"), content=PLAN)).ok
    assert not (local.folder / "documents").exists()
    told = envelope(archive.write(str(tmp_path / "third.oct.md"), content=PLAN))
    assert told["errors"][0]["suggestions"]["roots"] == [str(first), str(second)]


def test_a_root_that_is_not_there_is_not_made_up(local: Offices, tmp_path: Path) -> None:
    archive = Archive(local, roots=(tmp_path / "typo",))
    assert {code for code, _ in refused(archive.write(content=PLAN))} == {"E_PATH"}
    assert not (tmp_path / "typo").exists()


def test_a_root_may_be_reached_by_a_link(local: Offices, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    archive = Archive(local, roots=(tmp_path / "alias",))
    done(archive.write(str(tmp_path / "alias" / "a.oct.md"), content=PLAN))
    assert done(archive.write(str(tmp_path / "real" / "a.oct.md"), changes={"STATUS": "X"})).data["version"] == 2


@pytest.mark.requirement("REL-05")
def test_tenants_do_not_meet(local: Offices, tmp_path: Path) -> None:
    archive = Archive(local)
    archive.written()
    other = archive.clara.as_("carl", roles=["curator"], tenant="other")
    assert refused(other.documents.read_document(path="plan.oct.md")) == [("E_PATH", "E_FILE")]
    assert refused(other.documents.read_document(path=str(archive.file())))[0][0] == "E_PATH"
    assert done(archive.write("plan.oct.md", client=other, content=PLAN)).data["version"] == 1
    assert other.documents.list_documents().data["documents"][0]["version"] == 1


@pytest.mark.requirement("REL-05")
def test_a_root_is_for_the_main_tenant_unless_it_names_the_tenant(local: Offices, tmp_path: Path) -> None:
    for name in ("shared", "acme", "main"):
        (tmp_path / name).mkdir()
    archive = Archive(local, roots=(tmp_path / "shared", tmp_path / "{tenant}"))
    acme = archive.clara.as_("carl", roles=["curator"], tenant="acme")
    assert done(archive.write(client=acme, content=PLAN)).data["path"] == str(tmp_path / "acme" / "plan.oct.md")
    assert refused(archive.write(str(tmp_path / "shared" / "a.oct.md"), client=acme, content=PLAN))[0][0] == "E_PATH"
    assert done(archive.write(content=PLAN)).data["path"] == str(tmp_path / "shared" / "plan.oct.md")


def test_a_folder_that_becomes_a_link_before_the_file_is_published_leads_nowhere(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    blobs = Blobs(tmp_path / "blobs", "main")
    publication = Publication("1", str(root / "a" / "x.oct.md"), blobs.put(b"new"), None, root=str(root))
    (root / "a").rmdir()
    (root / "a").symlink_to(outside)
    assert publication.carry_out(blobs) == "conflict"
    assert list(outside.iterdir()) == []


@pytest.mark.faults
def test_somebody_who_swaps_a_folder_for_a_link_again_and_again_gains_nothing(
    tmp_path: Path, full_length: bool
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()

    def swap() -> None:
        for _ in range(50_000 if full_length else 1000):
            os.rename(root / "a", root / "aside")
            os.symlink(outside, root / "a")
            os.unlink(root / "a")
            os.rename(root / "aside", root / "a")

    def write() -> None:
        with suppress(Astray), descend(root, ["a"]) as folder:
            if folder is not None:
                folder.replace("x.oct.md", b"content")

    attacker = threading.Thread(target=swap)
    attacker.start()
    while attacker.is_alive():
        write()
    write()
    assert list(outside.iterdir()) == []
    assert [one.name for one in (root / "a").iterdir()] == ["x.oct.md"]
