"""The registry refuses to contradict itself, and what it promised stays promised."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engross.replies import (
    REGISTRY,
    Entry,
    Registry,
    RegistryError,
    UnknownCode,
    codes,
    generate,
    reply,
)
from engross.replies.entry import AREAS, LAYERS, entry_of
from engross.replies.rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
FIELDS: dict[str, Any] = {
    "key": "ODD_THING",
    "title": "Odd",
    "template": "{what} is odd.",
    "params": {"what": "string"},
    "http": 404,
    "advice": "Look again.",
    "since": "0.1.0",
}


def entry(code: str = "WA-RES-I-500", **changes: Any) -> Entry:
    return entry_of(code, {**FIELDS, **changes})


def test_a_sound_registry_is_taken() -> None:
    taken = Registry([entry()])
    assert taken.by_key("ODD_THING") is taken.entry("WA-RES-I-500")
    assert [one.code for one in taken] == ["WA-RES-I-500"]
    assert len(taken) == 1
    assert "WA-RES-I-500" in taken


@pytest.mark.parametrize(
    "code", ["XX-RES-I-001", "WA-MODE-I-001", "WA-RES-W-001", "WA-RES-I-1", "wa-res-i-001", "WA-RES-I-0011"]
)
@pytest.mark.requirement("REP-02")
def test_a_code_has_a_known_layer_area_and_type_and_three_digits(code: str) -> None:
    with pytest.raises(RegistryError):
        entry(code)


@pytest.mark.parametrize("changes", [{"layer": "CT"}, {"area": "IO"}, {"type": "E", "http": 500}, {"number": 501}])
@pytest.mark.requirement("REP-02")
def test_a_code_that_differs_from_its_parts_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RegistryError):
        Registry([replace(entry(), **changes)])


@pytest.mark.requirement("REP-02")
def test_a_code_is_registered_once() -> None:
    with pytest.raises(RegistryError):
        Registry([entry(), entry(key="OTHER")])


@pytest.mark.requirement("REP-02")
def test_a_message_key_belongs_to_one_code() -> None:
    with pytest.raises(RegistryError):
        Registry([entry(), entry("WA-RES-I-501")])


ALLOWED = {("WA", "S"), ("WA", "I"), ("WA", "E"), ("EN", "S"), ("EN", "D"), ("EN", "E")} | {
    (layer, kind) for layer in ("CT", "MCP") for kind in "SIE"
}


@pytest.mark.parametrize("layer", list(LAYERS))
@pytest.mark.parametrize("kind", "SIDE")
@pytest.mark.requirement("REP-03")
def test_only_enforcement_denies_and_enforcement_never_says_invalid(layer: str, kind: str) -> None:
    http = {"S": 200, "I": 400, "D": 403, "E": 500}[kind]
    one = entry(f"{layer}-GATE-{kind}-500", http=http)
    if (layer, kind) in ALLOWED:
        assert Registry([one]).entry(one.code) is one
    else:
        with pytest.raises(RegistryError):
            Registry([one])


@pytest.mark.parametrize(
    "changes",
    [
        {"template": "Nothing to fill in."},
        {"template": "{what} and {more}"},
        {"params": {}},
        {"params": {"what": "string", "more": "string"}},
        {"template": "{what.__class__}"},
        {"template": "{what!r}"},
        {"template": "{what:>10}"},
        {"template": "{what} {"},
        {"params": {"what": "text"}},
    ],
)
@pytest.mark.requirement("REP-02")
def test_a_template_has_exactly_the_declared_places(changes: dict[str, Any]) -> None:
    with pytest.raises(RegistryError):
        Registry([entry(**changes)])


@pytest.mark.parametrize(
    ("code", "http"),
    [
        ("WA-RES-S-500", 404),
        ("WA-RES-I-500", 200),
        ("WA-RES-I-500", 500),
        ("EN-GATE-D-500", 401),
        ("EN-GATE-D-500", 404),
        ("WA-RES-E-500", 400),
    ],
)
def test_the_http_status_fits_the_type(code: str, http: int) -> None:
    with pytest.raises(RegistryError):
        Registry([entry(code, http=http)])


@pytest.mark.parametrize(
    "changes",
    [
        {"key": "odd"},
        {"key": "ODD__X"},
        {"status": "old"},
        {"advice": ""},
        {"title": ""},
        {"retryable": True},
    ],
)
def test_the_other_fields_are_checked_too(changes: dict[str, Any]) -> None:
    with pytest.raises(RegistryError):
        Registry([entry(**changes)])


def test_a_field_that_no_entry_has_is_refused() -> None:
    with pytest.raises(RegistryError):
        entry(colour="red")


def test_a_retired_code_stays_readable_but_is_never_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    retired = entry(status="retired", replaced_by="WA-RES-I-501")
    kept = Registry([retired, entry("WA-RES-I-501", key="NEWER")])
    assert kept.entry(retired.code) is retired
    monkeypatch.setattr(sys.modules["engross.replies.reply"], "REGISTRY", kept)
    with pytest.raises(UnknownCode):
        reply(retired.code, {"what": "it"})
    assert reply("WA-RES-I-501", {"what": "it"}).message_key == "NEWER"


@pytest.mark.parametrize(
    "retired",
    [
        {"status": "active", "replaced_by": "WA-RES-I-501"},
        {"status": "retired", "replaced_by": "WA-RES-I-999"},
        {"status": "retired", "replaced_by": "WA-RES-I-500"},
        {"status": "retired", "replaced_by": "WA-RES-S-502"},
    ],
)
def test_a_code_is_replaced_only_when_retired_and_by_a_living_one_of_its_type(
    retired: dict[str, Any],
) -> None:
    others = [entry("WA-RES-I-501", key="NEWER"), entry("WA-RES-S-502", key="FINE", http=200)]
    with pytest.raises(RegistryError):
        Registry([entry(**retired), *others])


@pytest.mark.requirement("REP-02")
def test_key_and_code_lead_to_each_other_for_every_failure() -> None:
    for one in REGISTRY:
        assert REGISTRY.by_key(one.key).code == one.code
        assert getattr(codes, one.key) == one.code


def test_unknown_codes_and_keys_are_refused() -> None:
    with pytest.raises(UnknownCode):
        REGISTRY.entry("WA-RES-I-999")
    with pytest.raises(UnknownCode):
        REGISTRY.by_key("NO_SUCH_KEY")


@pytest.mark.requirement("REP-02")
def test_the_seeds_own_codes_keep_their_meaning() -> None:
    assert (codes.PATH_NOT_FOUND, codes.OUTSIDE_SCOPE) == ("WA-RES-I-001", "EN-WRITE-D-002")
    assert (codes.LEGACY_WRAP, codes.SYS_CRASH) == ("MCP-SYS-S-900", "MCP-SYS-E-001")


def test_every_area_is_on_the_closed_list() -> None:
    assert {one.area for one in REGISTRY} <= set(AREAS)


@pytest.mark.requirement("REP-02")
def test_what_was_promised_about_a_code_still_holds() -> None:
    promised = json.loads((Path(__file__).parent / "registry.snapshot.json").read_text("utf-8"))
    today = {one.code: generate.promised(one) for one in REGISTRY}
    assert {code: today.get(code) for code in promised} == promised


def test_a_snapshot_gains_codes_and_never_forgets_or_changes_one() -> None:
    earlier = {
        "WA-RES-I-500": {"type": "I", "message_key": "FIRST", "params": {}},
        "WA-RES-I-001": {"gone": True},
    }
    later = json.loads(generate.snapshot([entry(), entry("WA-RES-I-501", key="NEWER")], earlier))
    assert later == {**earlier, "WA-RES-I-501": generate.promised(entry("WA-RES-I-501", key="NEWER"))}


@pytest.mark.requirement("REP-02")
def test_everything_generated_is_current() -> None:
    assert generate.stale() == []


def test_the_rows_hold_what_the_registry_file_says() -> None:
    assert [Entry(*row) for row in ROWS] == generate.read_entries()


def test_every_code_has_its_place_on_the_page() -> None:
    page = (ROOT / "docs" / "reply-codes.md").read_text("utf-8")
    assert [one.code for one in REGISTRY if f"### {one.code} {one.key}" not in page] == []


def test_the_generator_writes_what_is_due_and_with_check_only_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    due = tmp_path / "docs" / "page.md"
    monkeypatch.setattr(generate, "outputs", lambda: {due: "new\n"})
    assert generate.main(["--check"]) == 1
    assert not due.exists()
    assert generate.main([]) == 0
    assert due.read_text() == "new\n"
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().out.split() == ["stale:", "page.md", "written:", "page.md"]
