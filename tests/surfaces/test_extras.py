"""Where a library of an extra is missing, whoever needs it is told the setting and the extra, and nothing is made."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from engross import connect
from engross.extras import LIBRARIES, Extra
from engross.replies import Failed, codes
from tests.surfaces.cli.shell import run, spawn

HOUSE = Path(__file__).parents[2]
SETTINGS: dict[str, dict[str, Any]] = {
    "postgres": {"store": "postgresql://nobody@127.0.0.1:1/nothing"},
    "redis": {"redis": "redis://127.0.0.1:1"},
    "otel": {"otlp": "http://127.0.0.1:1"},
}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """The libraries of an extra, as if they were not installed."""

    def hide(extra: str) -> None:
        for library in LIBRARIES[extra]:  # type: ignore[index]
            monkeypatch.setitem(sys.modules, library, None)

    return hide


def environment(extra: str) -> dict[str, str]:
    return {f"ENGROSS_{name.upper()}": value for name, value in SETTINGS[extra].items()}


def told(extra: str, data: Any) -> None:
    (setting,) = SETTINGS[extra]
    assert data["setting"] == setting
    assert f"`{extra}`" in data["hint"]


def test_the_extras_are_those_of_the_package_and_the_docs_have_them_all() -> None:
    declared = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(LIBRARIES) == set(get_args(Extra)) == set(declared)
    page = (HOUSE / "docs" / "settings.md").read_text()
    assert all(f"| `{extra}` | " in page for extra in declared)


@pytest.mark.parametrize("extra", ["postgres", "redis"])
def test_an_office_says_which_extra_it_needs_and_makes_no_folder(
    tmp_path: Path, without: Callable[[str], None], extra: str
) -> None:
    without(extra)
    with pytest.raises(Failed) as raised, connect(tmp_path / "office", **SETTINGS[extra]):
        pass
    assert raised.value.code == codes.CONFIG_INVALID
    told(extra, raised.value.data)
    assert not (tmp_path / "office").exists()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("postgres", ["record", "who-am-i"]),
        ("postgres", ["verify"]),
        ("postgres", ["migrate"]),
        ("postgres", ["serve"]),
        ("redis", ["record", "who-am-i"]),
        ("redis", ["serve"]),
        ("otel", ["serve"]),
    ],
)
def test_every_command_says_which_extra_it_needs(
    tmp_path: Path, without: Callable[[str], None], extra: str, words: list[str]
) -> None:
    without(extra)
    as_json = [] if words == ["serve"] else ["--json"]
    done = run(*words, *as_json, "--data", tmp_path / "office", env=environment(extra))
    assert done.code == 4
    if as_json:
        assert done.key == "CONFIG_INVALID"
        told(extra, done.json)
    else:
        assert "CONFIG_INVALID" in done.err
        assert f"`{extra}`" in done.err


@pytest.mark.parametrize(("extra", "check"), [("postgres", "store"), ("redis", "redis"), ("otel", "otlp")])
def test_the_doctor_names_the_extra(tmp_path: Path, without: Callable[[str], None], extra: str, check: str) -> None:
    without(extra)
    with connect(tmp_path / "office"):
        pass
    done = run("doctor", "--json", "--data", tmp_path / "office", env=environment(extra))
    found = {one["check"]: one for one in done.json["checks"]}
    assert (done.code, found[check]["status"]) == (1, "fail")
    assert f"`{extra}`" in found[check]["advice"]


@pytest.fixture
def half(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """An environment in which the libraries of an extra are found, and cannot be loaded."""

    def break_(extra: str) -> dict[str, str]:
        if extra == "postgres":
            return {"PSYCOPG_IMPL": "c"}
        folder = tmp_path / "broken"
        folder.mkdir()
        module, flaw = {"otel": ("requests", "ImportError"), "redis": ("redis", "TypeError")}[extra]
        (folder / f"{module}.py").write_text(f"raise {flaw}('left halfway')")
        return {"PYTHONPATH": str(folder)}

    return break_


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("postgres", ["record", "who-am-i"]),
        ("redis", ["record", "who-am-i"]),
        ("otel", ["serve"]),
    ],
)
def test_a_library_that_is_there_and_cannot_be_loaded_is_told_in_the_same_way(
    tmp_path: Path, half: Callable[[str], dict[str, str]], extra: str, words: list[str]
) -> None:
    done = spawn(*words, "--data", tmp_path / "office", env={**environment(extra), **half(extra)})
    assert (done.returncode, "CONFIG_INVALID" in done.stderr) == (4, True)
    assert "cannot be loaded" in done.stderr
    assert f"`{extra}`" in done.stderr


def test_a_backup_goes_into_no_store_whose_library_cannot_be_loaded(
    tmp_path: Path, half: Callable[[str], dict[str, str]]
) -> None:
    with connect(tmp_path / "office"):
        pass
    archive = tmp_path / "backup"
    assert run("backup", archive, "--data", tmp_path / "office").code == 0
    told_to = {**environment("postgres"), **half("postgres")}
    done = spawn("restore", archive, "--data", tmp_path / "other", env=told_to)
    assert (done.returncode, "CONFIG_INVALID" in done.stderr) == (4, True)
    assert not (tmp_path / "other").exists()


def test_the_doctor_loads_the_libraries(tmp_path: Path, half: Callable[[str], dict[str, str]]) -> None:
    done = spawn("doctor", "--data", tmp_path / "office", env={**environment("otel"), **half("otel")})
    assert done.returncode == 1
    assert "cannot be loaded: left halfway" in done.stdout
