"""Several who change one thing at once: nobody's change is lost, and who expects a version gets it or is told."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Annotated, Any, NotRequired

import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate, Described
from engross.ledger import Fact, State, Unit
from engross.replies import Invalid, Reply, codes
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.pipeline.tables import count, everything, rows

PATIENCE = 20
FIELDS = [f"field_{number:02}" for number in range(50)]


class SetField(TypedDict):
    """One field of the form."""

    name: Annotated[str, Described("Which field.", maxLength=20)]
    value: Annotated[str, Described("What to put there.", maxLength=20)]
    expected_version: NotRequired[Annotated[int, Described("Only if the form still has this version.", minimum=0)]]


def form(before_writing: Any = lambda unit: None) -> Aggregate:
    """One form with many fields, each of which is set by itself."""
    sql = (
        "CREATE TABLE form_fields (tenant $text NOT NULL, name $text NOT NULL, value $text NOT NULL,"
        " PRIMARY KEY (tenant, name))$clustered;"
        "CREATE TABLE form_version (tenant $text NOT NULL, version $integer NOT NULL,"
        " PRIMARY KEY (tenant))$clustered;"
    )
    aggregate = Aggregate("form", "A form", tables=["form_fields", "form_version"], migrations=[("form", sql)])

    @aggregate.record(effect="update", tier=1)
    def set_field(unit: Unit, arguments: SetField) -> dict[str, Any]:
        """Set one field."""
        version = unit.value("SELECT version FROM form_version WHERE tenant = :tenant") or 0
        expected = arguments.get("expected_version")
        if expected is not None and expected != version:
            raise Invalid(codes.VERSION_CONFLICT, {"expected": expected, "current": version}, field="expected_version")
        before_writing(unit)
        payload = {"name": arguments["name"], "value": arguments["value"]}
        unit.append("FieldSet", "the form", version, payload, fields=[arguments["name"]])
        return {"version": version + 1}

    @aggregate.applies("FieldSet")
    def field_set(state: State, fact: Fact) -> None:
        stated = fact.payload or {}
        state.execute(
            "INSERT INTO form_fields (tenant, name, value) VALUES (:tenant, :name, :value)"
            " ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value",
            name=stated["name"],
            value=stated["value"],
        )
        state.execute(
            "INSERT INTO form_version (tenant, version) VALUES (:tenant, :version)"
            " ON CONFLICT (tenant) DO UPDATE SET version = excluded.version",
            version=fact.version,
        )

    return aggregate


def fields(client: Client) -> dict[str, str]:
    found = rows(client, "SELECT name, value FROM form_fields WHERE tenant = :tenant")
    return {row["name"]: row["value"] for row in found}


def versions(client: Client) -> list[int]:
    return [row["version"] for row in rows(client, "SELECT version FROM facts WHERE tenant = :tenant ORDER BY version")]


def together(calls: list[Any]) -> list[Reply]:
    barrier = Barrier(len(calls))

    def run(call: Any) -> Reply:
        barrier.wait(PATIENCE)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


@pytest.mark.requirement("ARCH-30")
def test_who_expects_another_version_is_told_which_it_is_and_what_changed(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    curator.as_("boris", roles=["curator"]).shelf.change_book(id=book, notes="sand", expected_version=1)
    before = everything(curator)
    refused = curator.shelf.change_book(id=book, title="Dune Messiah", expected_version=1)
    assert (refused.reply_type, refused.message_key, refused.http_status) == ("I", "VERSION_CONFLICT", 409)
    assert refused.params == {"expected": 1, "current": 2}
    assert refused.data["field"] == "expected_version"
    assert refused.data["suggestions"] == {
        "current_version": 2,
        "changed_fields": ["notes"],
        "overlapping_fields": [],
    }
    assert everything(curator) == before
    assert curator.shelf.change_book(id=book, title="Dune Messiah", expected_version=2).data["new_version"] == 3


@pytest.mark.requirement("ARCH-30")
def test_a_version_of_the_future_is_refused_too(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    assert curator.shelf.change_book(id=book, title="Emma", expected_version=2).message_key == "VERSION_CONFLICT"


@pytest.mark.requirement("ARCH-30")
def test_of_many_who_expect_the_same_version_exactly_one_gets_it(offices: Offices, curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    clients = [curator, offices.open()] * 5
    answers = together(
        [
            lambda n=n, client=client: client.shelf.change_book(id=book, notes=str(n), expected_version=1)
            for n, client in enumerate(clients)
        ]
    )
    kinds = Counter(answer.message_key for answer in answers)
    assert kinds == {"UPDATED": 1, "VERSION_CONFLICT": len(clients) - 1}
    (winner,) = [n for n, answer in enumerate(answers) if answer.ok]
    found = curator.shelf.get_book(id=book).data["book"]
    assert (found["version"], found["notes"]) == (2, str(winner))


@pytest.mark.requirement("ARCH-30")
def test_without_a_version_a_call_that_is_overtaken_keeps_the_others_fields(offices: Offices) -> None:
    both_have_read = Barrier(2)
    runs: Counter[str] = Counter()

    def meet(unit: Unit) -> None:
        runs[unit.context.message_id] += 1
        if offices.store is not None and runs[unit.context.message_id] == 1:
            both_have_read.wait(PATIENCE)

    curator = offices.open(form(meet))
    answers = together(
        [
            lambda: curator.form.set_field(name="title", value="Dune"),
            lambda: curator.form.set_field(name="author", value="Frank Herbert"),
        ]
    )
    assert sorted(answer.data["version"] for answer in answers) == [1, 2]
    assert fields(curator) == {"title": "Dune", "author": "Frank Herbert"}
    assert versions(curator) == [1, 2]
    if offices.store is not None:
        assert sorted(runs.values()) == [1, 2], "one of the two had to run again"


@pytest.mark.requirement("ARCH-30")
def test_with_a_version_a_call_that_is_overtaken_is_not_run_over_the_others_change(offices: Offices) -> None:
    both_have_read = Barrier(2)
    runs: Counter[str] = Counter()

    def meet(unit: Unit) -> None:
        runs[unit.context.message_id] += 1
        if offices.store is not None and runs[unit.context.message_id] == 1:
            both_have_read.wait(PATIENCE)

    curator = offices.open(form(meet))
    answers = together(
        [
            lambda name=name: curator.form.set_field(name=name, value="x", expected_version=0)
            for name in ("title", "author")
        ]
    )
    assert sorted(answer.message_key for answer in answers) == ["UPDATED", "VERSION_CONFLICT"]
    assert len(fields(curator)) == 1
    assert versions(curator) == [1]


@pytest.mark.requirement("ARCH-30")
@pytest.mark.parametrize("loop", [False, True], ids=["threads", "loop"])
def test_fifty_who_change_different_fields_of_one_thing_all_keep_theirs(offices: Offices, loop: bool) -> None:
    curator, other = offices.open(form(), unit_seconds=PATIENCE), offices.open(form(), unit_seconds=PATIENCE)

    async def on_a_loop() -> list[Reply]:
        return await asyncio.gather(
            *(
                client.form.set_field.acall(name=name, value=name, client_request_id=f"set-{name}")
                for client, name in zip([curator, other] * 25, FIELDS, strict=True)
            )
        )

    if loop:
        answers = asyncio.run(on_a_loop())
    else:
        answers = together(
            [
                lambda client=client, name=name: client.form.set_field(name=name, value=name)
                for client, name in zip([curator, other] * 25, FIELDS, strict=True)
            ]
        )
    assert Counter(answer.message_key for answer in answers) == {"UPDATED": 50}
    assert sorted(answer.data["version"] for answer in answers) == list(range(1, 51))
    assert fields(curator) == {name: name for name in FIELDS}
    assert versions(curator) == list(range(1, 51))
    assert [count(curator, table) for table in ("facts", "receipts")] == [50, 50]
    assert curator.office.rebuild("main").same


@pytest.mark.requirement("ARCH-30")
def test_what_somebody_removes_while_another_changes_it_is_removed_or_changed_but_never_half(curator: Client) -> None:
    for number in range(5):
        book = curator.shelf.add_book(title=f"Book {number}").data["book"]["id"]
        asked = curator.shelf.remove_book(id=book)
        removal = {"id": book, "confirm_token": asked.data["confirm_token"]}
        removed, changed = together(
            [
                lambda removal=removal: curator.shelf.remove_book(**removal),
                lambda book=book: curator.shelf.change_book(id=book, notes="late"),
            ]
        )
        outcome = (removed.message_key, changed.message_key)
        # Whoever comes second finds the book gone, or the ground of its confirmation moved.
        assert outcome in [("DELETED", "RECORD_NOT_FOUND"), ("PLAN_DRIFT", "UPDATED")]
    assert curator.office.rebuild("main").same
