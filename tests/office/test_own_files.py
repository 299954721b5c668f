"""What the operator put into the data folder counts, or the office does not open: nothing is passed over in silence."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engross.replies import Failed, codes
from engross.surfaces.client import connect
from tests.bed.offices import shelf
from tests.bed.unprivileged import Unprivileged
from tests.office.desk import policies

FORBID = 'forbid (principal, action in [Action::"commit", Action::"propose"], resource);'

Damage = Callable[[Path], object]


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "gone")


def file(path: Path) -> None:
    path.write_bytes(b"\xff")


DAMAGES: dict[str, Damage] = {
    "a link that leads nowhere": link_to_nothing,
    "a link to itself": lambda path: path.symlink_to(path),
    "a pipe": os.mkfifo,
    "what is no text": file,
    "a folder": Path.mkdir,
}
UNREADABLE = {name: damage for name, damage in DAMAGES.items() if damage is not file}
FOLDERS = {name: damage for name, damage in DAMAGES.items() if damage is not Path.mkdir}
SETTINGS = {
    "policies": "policies",
    "schemas": "document_schemas",
    "policies/knobs.toml": "knobs.toml",
    "policies/mine.cedar": "policy mine.cedar",
    "capabilities": "capability capabilities",
    "keys/office.key": "office key",
}


def refusal(folder: Path, **settings: Any) -> Failed:
    with pytest.raises(Failed) as raised:
        connect(folder, shelf(), **settings).close()
    return raised.value


def put(data: Path, name: str, damage: Damage) -> None:
    path = data / name
    path.parent.mkdir(parents=True, exist_ok=True)
    damage(path)


@pytest.mark.parametrize("damage", FOLDERS.values(), ids=FOLDERS)
@pytest.mark.parametrize("name", ["policies", "schemas", "capabilities"])
def test_whatever_stands_in_the_place_of_a_folder_is_refused(tmp_path: Path, name: str, damage: Damage) -> None:
    put(tmp_path, name, damage)
    failure = refusal(tmp_path)
    assert (failure.code, failure.params) == (codes.CONFIG_INVALID, {"setting": SETTINGS[name]})
    assert failure.data is not None
    assert failure.data["file"] == str(tmp_path / name)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("name", ["policies/knobs.toml", "policies/mine.cedar", "keys/office.key"])
def test_whatever_stands_in_the_place_of_a_file_is_refused(tmp_path: Path, name: str, damage: Damage) -> None:
    put(tmp_path, name, damage)
    failure = refusal(tmp_path)
    assert (failure.code, failure.params) == (codes.CONFIG_INVALID, {"setting": SETTINGS[name]})


@pytest.mark.parametrize("damage", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("name", ["mine.py", "mine.yaml"])
def test_a_capability_that_cannot_be_read_is_refused(tmp_path: Path, name: str, damage: Damage) -> None:
    put(tmp_path, f"capabilities/{name}", damage)
    failure = refusal(tmp_path)
    assert (failure.code, failure.params) == (codes.CONFIG_INVALID, {"setting": f"capability {name}"})


def closed(data: Path, name: str) -> tuple[str, object]:
    place = data / name
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        connect(data, shelf()).close()
    except Failed as failure:
        return failure.code, dict(failure.params)
    finally:
        place.chmod(mode)
    return "", {}


@pytest.mark.parametrize("name", ["policies", "policies/knobs.toml", "policies/mine.cedar", "schemas", "capabilities"])
def test_what_may_not_be_read_is_refused(tmp_path: Path, name: str, unprivileged: Unprivileged) -> None:
    policies(tmp_path / "policies", mine="")
    for folder in ("schemas", "capabilities"):
        (tmp_path / folder).mkdir()
    assert unprivileged.run(closed, tmp_path, name) == (codes.CONFIG_INVALID, {"setting": SETTINGS[name]})


def test_a_key_that_may_not_be_read_is_refused(tmp_path: Path, unprivileged: Unprivileged) -> None:
    connect(tmp_path, shelf()).close()
    assert unprivileged.run(closed, tmp_path, "keys/office.key")[0] == codes.CONFIG_INVALID


@pytest.mark.parametrize("setting", ["policies", "document_schemas"])
def test_a_folder_that_was_named_and_is_not_there_is_refused(tmp_path: Path, setting: str) -> None:
    failure = refusal(tmp_path / "data", **{setting: tmp_path / "gone"})
    assert (failure.code, failure.params) == (codes.CONFIG_INVALID, {"setting": setting})


def test_policies_behind_a_link_hold_and_are_missed_when_they_are_gone(tmp_path: Path) -> None:
    data, there = tmp_path / "data", policies(tmp_path / "elsewhere", mine=FORBID)
    put(data, "policies", lambda path: path.symlink_to(there))
    with connect(data, shelf()) as office:
        assert office.shelf.add_book(title="Dune").message_key == "WRITE_DENIED"
    there.rename(tmp_path / "gone")
    assert refusal(data).code == codes.CONFIG_INVALID


def test_a_store_behind_a_link_that_leads_nowhere_is_not_begun_anew(tmp_path: Path) -> None:
    data, there = tmp_path / "data", tmp_path / "office.db"
    data.mkdir()
    there.touch()
    (data / "office.db").symlink_to(there)
    with connect(data, shelf()) as office:
        assert office.shelf.add_book(title="Dune").ok
    there.rename(tmp_path / "moved")
    assert refusal(data).code == codes.STORE_UNAVAILABLE
    assert not there.exists()
    (tmp_path / "moved").rename(there)
    with connect(data, shelf()) as office:
        assert [book["title"] for book in office.shelf.list_books().data["books"]] == ["Dune"]
