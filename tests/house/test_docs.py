"""What is not documented fails, and so does a link that leads nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tools.docs import ROOT, anchors, broken_links, stale_pages


def reply_codes() -> Iterable[str]:
    return [entry.code for entry in import_module("engross.replies").REGISTRY]


def commands() -> Iterable[str]:
    from typer.main import get_command

    listed = _spelled("engross", get_command(import_module("engross.surfaces.cli").app))
    # `engross mcp` has a parser of its own.
    return dict.fromkeys([*listed, *(name for name, _ in import_module("engross.surfaces.cli.stdio").OPTIONS)])


def _spelled(name: str, command: Any) -> Iterator[str]:
    """A command, its options, and what is below it. The options of a group are those of its commands."""
    below = getattr(command, "commands", {})
    yield name
    if not below:
        yield from (spelled for option in command.params for spelled in option.opts if spelled.startswith("--"))
    for part, inner in below.items():
        yield from _spelled(f"{name} {part}", inner)


def settings() -> Iterable[str]:
    from dataclasses import fields

    return [field.name for field in fields(import_module("engross.office.settings").Settings)]


# What must be documented: its kind, the module that holds it, its names, the page. Add a line to add a kind.
PLACES: list[tuple[str, str, Callable[[], Iterable[str]], str]] = [
    ("reply code", "engross.replies", reply_codes, "reply-codes.md"),
    ("command", "engross.surfaces.cli", commands, "commands.md"),
    ("setting", "engross.office.settings", settings, "settings.md"),
]


def exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize(
    ("names", "page"),
    [pytest.param(names, page, id=kind) for kind, module, names, page in PLACES if exists(module)],
)
def test_everything_has_its_place_in_the_docs(names: Callable[[], Iterable[str]], page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert [name for name in names() if name not in text] == []


def test_generated_pages_are_up_to_date() -> None:
    assert [path.name for path in stale_pages()] == [], "run `make docs`"


def test_every_relative_link_leads_somewhere() -> None:
    assert broken_links() == []


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(page for page in pages - {"index.md"} if f"({page})" not in index) == []


def test_the_readme_opens_with_the_two_commands() -> None:
    first_screen = (ROOT / "README.md").read_text("utf-8").splitlines()[:40]
    assert {"make run", "make test"} <= {line.split("#")[0].strip() for line in first_screen}


def test_a_link_to_a_missing_page_or_heading_is_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "there.md").write_text("# A heading, or two\n")
    (tmp_path / "README.md").write_text(
        "[good](docs/there.md#a-heading-or-two) [elsewhere](https://example.org) `[code](none.md)`\n"
        "```\n[fenced](none.md)\n```\n"
        "[gone](docs/gone.md) [no heading](docs/there.md#gone) [ref]\n\n[ref]: docs/lost.md\n"
    )
    assert broken_links(tmp_path) == [
        "README.md: docs/gone.md",
        "README.md: docs/there.md#gone",
        "README.md: docs/lost.md",
    ]


def test_headings_that_repeat_are_numbered() -> None:
    assert anchors("# Same\n\n## Same\n\n```\n# not a heading\n```\n") == {"same", "same-1"}
