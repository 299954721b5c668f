"""The Python surface: flows as methods, Replies back, wherever the office is."""

from __future__ import annotations

import asyncio
import threading
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from engross.calls import Principal
from engross.replies import Failed, Reply, codes
from engross.surfaces.client import Client, connect
from tests.bed.offices import Offices, shelf
from tests.bed.rig import rig
from tests.bed.sameness import told
from tests.surfaces.client.conftest import At
from tests.surfaces.conftest import Serving

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_flow_is_a_method_and_a_call_by_ref_is_the_same(clara: Client) -> None:
    assert clara.shelf.add_book(title="Dune").message_key == "CREATED"
    assert clara.call("shelf.add-book", {"title": "dune"}).message_key == "DUPLICATE_NAME"


def test_a_call_can_be_awaited(clara: Client) -> None:
    async def calls() -> tuple[str, str, str]:
        made = await clara.shelf.add_book.acall(title="Dune")
        book = await clara.acall("shelf.get-book", {"id": made.data["book"]["id"]})
        books = await clara.acall("shelf.list-books")
        return made.message_key, book.data["book"]["title"], books.data["books"][0]["title"]

    assert asyncio.run(calls()) == ("CREATED", "Dune", "Dune")


def test_many_tasks_and_threads_may_call_at_once(clara: Client) -> None:
    async def tasks() -> list[bool]:
        return [reply.ok for reply in await asyncio.gather(*(one(number) for number in range(20)))]

    async def one(number: int) -> Reply:
        return await clara.acall("shelf.add-book", {"title": f"Task {number}"})

    def thread(number: int) -> None:
        assert clara.shelf.add_book(title=f"Thread {number}").ok

    threads = [threading.Thread(target=thread, args=(number,)) for number in range(8)]
    for one_thread in threads:
        one_thread.start()
    assert all(asyncio.run(tasks()))
    for one_thread in threads:
        one_thread.join()
    assert len(clara.shelf.list_books(limit=100).data["books"]) == 28


def test_a_client_serves_one_event_loop_after_another(clara: Client) -> None:
    for number in range(3):
        assert asyncio.run(clara.acall("shelf.add-book", {"title": f"Loop {number}"})).ok


def test_a_dry_run_says_what_would_be_and_writes_nothing(clara: Client) -> None:
    tried = clara.shelf.add_book.dry_run(title="Dune")
    assert (tried.message_key, tried.data["would"]["mode"]) == ("VALIDATION_DONE", "direct")
    assert clara.shelf.list_books().data["books"] == []


def test_an_unknown_method_or_aggregate_is_a_python_error(clara: Client) -> None:
    with pytest.raises(AttributeError, match=r"shelf has no flow 'burn_books'$"):
        clara.shelf.burn_books  # noqa: B018
    with pytest.raises(AttributeError, match=r"shelf has no flow 'add_bok': did you mean add_book\?"):
        clara.shelf.add_bok  # noqa: B018
    with pytest.raises(AttributeError, match=r"this office has no aggregate 'shelv': did you mean shelf\?"):
        clara.shelv  # noqa: B018
    assert "add_book" in dir(clara.shelf)
    assert "shelf" in dir(clara)


def test_an_argument_without_its_name_is_a_python_error_that_says_so(clara: Client) -> None:
    told = "shelf.add-book takes its arguments by name"
    with pytest.raises(TypeError, match=told):
        clara.shelf.add_book("Dune")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=told):
        clara.shelf.add_book.dry_run("Dune")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=told):
        asyncio.run(clara.shelf.add_book.acall("Dune"))  # type: ignore[arg-type]
    assert clara.shelf.list_books().data["books"] == []


@pytest.mark.parametrize("name", ["shelf.add-bok", "addBook", "nowhere.nothing", "shelf.", ".", "", "shelf/../x.y"])
def test_an_unknown_ref_is_invalid(clara: Client, name: str) -> None:
    assert clara.call(name).message_key == "UNKNOWN_OPERATION"


def test_an_unknown_ref_names_the_nearest(clara: Client) -> None:
    assert clara.call("shelf.add-bok").data["suggestions"]["did_you_mean"][0] == "shelf.add-book"


def test_a_call_goes_on_with_the_callers_trace_and_correlation(clara: Client) -> None:
    made = clara.call(
        "shelf.add-book", {"title": "Dune"}, traceparent=PARENT, correlation_id="order-7", causation_id="click-3"
    )
    assert made.trace_id == PARENT[3:35]
    receipt = clara.record.get_receipt(position=made.data["position"]).data["receipt"]
    assert receipt["correlation_id"] == "order-7"
    assert receipt["traceparent"][3:35] == PARENT[3:35]


@pytest.mark.parametrize("given", ["", "no trace", "\x00", "ü", "x" * 300, "a\r\nb: c"])
def test_ids_that_are_none_count_as_not_given(clara: Client, given: str) -> None:
    made = clara.call("shelf.list-books", {}, traceparent=given, tracestate=given, correlation_id=given)
    assert made.ok
    assert made.trace_id is not None


def test_a_call_may_be_given_little_time(clara: Client, tmp_path: Path) -> None:
    held = clara.call("rig.hold", {"begun": str(tmp_path / "begun"), "until": str(tmp_path / "until")}, timeout=0.2)
    (tmp_path / "until").touch()
    assert (held.message_key, held.reply_type, held.retryable) == ("TIMEOUT", "E", True)


@pytest.mark.parametrize(
    "options", [{"timeout": "x"}, {"timeout": -1}, {"timeout": nan}, {"timeout": -inf}, {"pins": 5}, {"pins": "x"}]
)
def test_an_option_that_means_nothing_is_invalid(clara: Client, options: Any) -> None:
    answer = clara.call("shelf.list-books", {}, **options)
    (name,) = options
    assert (answer.message_key, answer.data["field"]) == ("VALIDATION_ERROR", name)
    assert (answer.tool, answer.trace_id is not None) == ("shelf.list-books", True)
    assert asyncio.run(clara.acall("shelf.list-books", {}, **options)).message_key == "VALIDATION_ERROR"


@pytest.mark.parametrize("seconds", [inf, 10**400, 1e300, 5])
def test_a_call_may_be_given_all_the_time_there_is(clara: Client, seconds: float) -> None:
    assert clara.call("shelf.list-books", {}, timeout=seconds).ok
    assert clara.call("shelf.add-book", {"title": "Dune"}, timeout=seconds).ok


def test_an_unknown_option_is_a_python_error(clara: Client) -> None:
    with pytest.raises(TypeError):
        clara.call("shelf.list-books", {}, tenant="other")  # type: ignore[call-arg]


UNFIT: list[Any] = [
    {"title": float("nan")},
    {"title": "\ud800"},
    {"title": object()},
    {"title": 2**70},
    {1: "x"},
    {"title": "nul \0"},
    ["title"],
    "title",
    {"title": "x", "tenant": "other"},
    {"title": {"deep": [[[[]]]]}},
]


@pytest.mark.parametrize("arguments", UNFIT, ids=range(len(UNFIT)))
def test_what_is_no_fit_argument_is_invalid_and_nothing_is_written(clara: Client, arguments: Any) -> None:
    assert clara.call("shelf.add-book", arguments).reply_type == "I"
    assert clara.shelf.list_books().data["books"] == []


def test_arguments_that_are_too_deep_are_refused(clara: Client) -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    assert clara.call("shelf.add-book", {"title": deep}).message_key == "LIMIT_EXCEEDED"


def test_a_repeated_write_with_its_key_changes_nothing_twice(clara: Client) -> None:
    first = clara.shelf.add_book(title="Dune", client_request_id="request-0001")
    again = clara.shelf.add_book(title="Dune", client_request_id="request-0001")
    assert again.data["idempotent_replay"] is True
    assert again.data["book"] == first.data["book"]


def test_replies_are_frozen_on_either_side(clara: Client) -> None:
    answer = clara.shelf.list_books()
    with pytest.raises(TypeError):
        answer.data["books"] = []
    with pytest.raises(TypeError):
        answer.data["books"].append("x")


def test_the_outline_of_a_flow_says_what_it_takes(clara: Client) -> None:
    outline = clara.outlines()["shelf.add-book"]
    assert outline.arguments["required"] == ["title"]
    assert {"title", "author", "client_request_id"} <= set(outline.arguments["properties"])
    assert (outline.kind, outline.tool, outline.toolset, outline.dialect) == (
        "record",
        "addBook",
        "shelf",
        "architecture",
    )
    assert outline.examples[0]["reply"] == "CREATED"


def test_both_ways_tell_the_same_about_every_flow(at: At) -> None:
    near, far = at("embedded").outlines(), at("remote").outlines()
    assert {ref: one.as_data() for ref, one in far.items()} == {ref: one.as_data() for ref, one in near.items()}


@pytest.mark.requirement("DOC-16")
@pytest.mark.parametrize("toolsets", [None, "documents,legacy"])
def test_by_either_way_what_is_hidden_is_there_only_if_its_toolset_is_named(
    serving: Serving, toolsets: str | None
) -> None:
    chosen: dict[str, Any] = {"domains": "documents", "toolsets": toolsets}
    served = serving(environment={f"ENGROSS_{name.upper()}": value for name, value in chosen.items() if value})
    with (
        connect(served.folder, shelf(), rig, **chosen) as near,
        connect(served.url, token=served.owner) as far,
    ):
        here, there = ({ref: one.as_data() for ref, one in way.outlines().items()} for way in (near, far))
        assert here == there
        assert ("documents.octave-ingest" in here) is (toolsets is not None)
        for name in ("octave-ingest", "octave-inges"):
            by_either = [way.call(f"documents.{name}", {"content": "A::1", "schema": "META"}) for way in (near, far)]
            assert told(by_either[0]) == told(by_either[1])
            assert by_either[0].ok is (toolsets is not None and name == "octave-ingest")


def test_whoever_opens_the_folder_is_a_curator_unless_told_otherwise(tmp_path: Path) -> None:
    with connect(tmp_path / "office", shelf()) as office:
        assert (office.principal.type, office.principal.roles) == ("human", frozenset({"curator"}))
    viewer = Principal("vera", "human", frozenset({"viewer"}))
    with connect(tmp_path / "office", shelf(), principal=viewer) as office:
        assert office.shelf.add_book(title="Dune").reply_type == "D"
        assert office.shelf.list_books().ok


@pytest.mark.parametrize(
    "address",
    [
        "htp://x",
        "http:/x",
        "ftp://x/y",
        "postgresql+psycopg://u:p@x/y",
        "htps://",
        "localhost:8080",
        "office.example:443/mcp",
    ],
)
def test_what_begins_like_an_address_and_is_none_of_an_office_becomes_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Failed) as refused:
        connect(address)
    assert refused.value.params == {"setting": "data"}
    assert "http:// or https://" in refused.value.__notes__[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["parcels.py", "parcels.py/office"])
def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "parcels.py").write_text("")
    with pytest.raises(Failed) as refused:
        connect(tmp_path / place)
    assert (refused.value.code, refused.value.params) == (codes.CONFIG_INVALID, {"setting": "data"})
    (note,) = refused.value.__notes__
    for word in (str(tmp_path / place), "no folder", "capabilities"):
        assert word in note


def test_a_setting_that_does_not_fit_leaves_no_folder_behind(tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "own.cedar").write_text("permit (")
    for broken in ({"policies": policies}, {"policies": tmp_path / "none"}, {"domains": "nonsense"}):
        with pytest.raises(Failed):
            connect(tmp_path / "office", **broken)
    assert not (tmp_path / "office").exists()


def test_a_folder_may_have_a_colon_in_its_name(tmp_path: Path) -> None:
    with connect(tmp_path / "c:" / "x") as office:
        assert office.record.who_am_i().ok


def test_a_closed_office_answers_with_an_error_and_keeps_what_it_had(offices: Offices) -> None:
    office = offices.open()
    assert office.shelf.add_book(title="Dune").ok
    office.close()
    refused = office.shelf.add_book(title="Emma")
    assert (refused.message_key, refused.data["problem"]) == ("OFFICE_UNREACHABLE", "the office was closed")
    assert [book["title"] for book in offices.open().shelf.list_books().data["books"]] == ["Dune"]


def test_a_client_may_be_closed_twice(clara: Client) -> None:
    clara.close()
    clara.close()


def test_one_role_may_be_given_as_a_word_and_a_made_up_kind_of_principal_is_refused(curator: Client) -> None:
    assert curator.as_("carl", "human", "curator").principal.roles == frozenset({"curator"})
    with pytest.raises(ValueError, match="human, agent, service"):
        curator.as_("robbie", "robot")  # type: ignore[arg-type]


def test_who_opens_a_folder_is_checked_as_whoever_takes_their_place(tmp_path: Path) -> None:
    folder = tmp_path / "office"
    with pytest.raises(TypeError, match="'clara' is no Principal"):
        connect(folder, shelf(), principal="clara")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="human, agent, service"):
        connect(folder, shelf(), principal=Principal("robbie", "robot"))  # type: ignore[arg-type]
    assert not folder.exists()
    listed = Principal("clara", "human", ["curator"], ["all"])  # type: ignore[arg-type]
    with connect(folder, shelf(), principal=listed) as office:
        assert office.shelf.add_book(title="Dune").ok
    with connect(folder, shelf(), roles="viewer") as office:
        assert office.principal.roles == frozenset({"viewer"})


def test_what_is_no_aggregate_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="capabilities"):
        connect(tmp_path / "office", "parcels.py")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["localhost:8193", "office"])
@pytest.mark.parametrize("token", ["egr_x", ""])
def test_a_token_for_a_folder_is_refused_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, token: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match="begins with http:// or https://") as refused:
        connect(place, token=token)
    assert "egr_x" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
