"""Beginning and ending: where it listens, whom it lets in without asking, and that nothing is lost when it ends."""

from __future__ import annotations

import signal
import socket
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from engross.office import Settings
from engross.replies import Failed
from engross.surfaces.client import connect
from engross.surfaces.serving import serve
from engross.surfaces.serving.listening import bind_unix
from tests.bed.offices import shelf
from tests.bed.rig import rig
from tests.bed.served import UNLIMITED, NotServed, Served, wait_for
from tests.surfaces.conftest import Serving
from tests.surfaces.serving.wires import Wire, ask, authorized, head

WRITERS = 8


class Writers:
    """Clients that write until the server does not answer any more, and remember what was acknowledged."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.acknowledged: list[str] = []
        self.answers: Counter[int] = Counter()
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]

    def start(self) -> None:
        """Begin to write."""
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until all have ended."""
        for thread in self._threads:
            thread.join()

    def _write(self, number: int) -> None:
        with self._served.client(self._served.owner) as client:
            for count in range(100_000):
                title = f"Book {number}-{count}"
                try:
                    answer = client.post("/v1/shelf/add-book", json={"title": title})
                except httpx2.TransportError:
                    return
                self.answers[answer.status_code] += 1
                if answer.status_code == 201:
                    self.acknowledged.append(title)
                if answer.status_code == 503:
                    return


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_ending_under_load_loses_nothing_that_was_acknowledged(
    store: str | None, serving: Serving, tmp_path: Path, number: signal.Signals
) -> None:
    served = serving(store=store, knobs=UNLIMITED)
    writers = Writers(served)
    writers.start()
    wait_for(lambda: len(writers.acknowledged) > 200)
    assert served.stop(number) == 0
    writers.join()
    assert writers.answers.keys() <= {201, 503}
    with connect(served.folder, shelf(), rig, store=store) as office:
        kept = Counter(book["title"] for book in _books(office))
        verified = office.office.rebuild(office.tenant).same
    assert set(writers.acknowledged) <= kept.keys()
    assert set(kept.values()) == {1}
    assert verified
    # What was on its way when the server ended may have been written, one for each writer at the most.
    assert len(kept) - len(writers.acknowledged) <= WRITERS


def _books(office: Any) -> list[dict[str, Any]]:
    books: list[dict[str, Any]] = []
    while True:
        after = {"after": books[-1]["id"]} if books else {}
        page = office.call("shelf.list-books", {"limit": 500, **after}).data["books"]
        books += page
        if len(page) < 500:
            return books


@contextmanager
def holding(served: Served, folder: Path) -> Iterator[tuple[Wire, Path]]:
    """A call that has begun, and the file that lets it end."""
    begun, until = folder / "begun", folder / "until"
    body = orjson.dumps({"begun": str(begun), "until": str(until)})
    lines = ["Content-Type: application/json", f"Content-Length: {len(body)}", authorized(served)]
    with Wire(served) as wire:
        wire.say(head(served, "POST /v1/rig/hold", *lines), body)
        wait_for(begun.exists)
        yield wire, until


def closing(served: Served) -> Callable[[], bool]:
    """Whether a server has begun to close."""
    return lambda: "closing" in served.last_words()


def test_a_call_that_runs_is_waited_for(serving: Serving, tmp_path: Path) -> None:
    served = serving()
    with holding(served, tmp_path) as (wire, until):
        served.ask_to_end()
        wait_for(closing(served))
        with pytest.raises(ConnectionError):
            ask(served, "GET /health/live")
        until.touch()
        assert wire.hear("POST").told["held"]
    assert served.stop() == 0


def test_a_call_that_takes_too_long_is_given_up_and_told_so(serving: Serving, tmp_path: Path) -> None:
    served = serving(shutdown_seconds=0.2)
    with holding(served, tmp_path) as (wire, until):
        served.ask_to_end()
        heard = wire.hear("POST")
        assert (heard.status, heard.key, heard.told["outcome"]) == (504, "TIMEOUT", "unknown")
        until.touch()
    assert served.stop() == 0


def test_a_call_whose_answer_waited_for_the_client_to_read_is_told_so_as_well(serving: Serving) -> None:
    """What it was answered never went out, so that another answer may."""
    served = serving(shutdown_seconds=1.0)
    size, book = b'{"size": 3890000}', b'{"title": "Emma"}'
    with Wire(served) as wire:
        for flow, body in (("rig/flood", size), ("rig/flood", size), ("shelf/add-book", book)):
            length = f"Content-Length: {len(body)}"
            wire.say(
                head(served, f"POST /v1/{flow}", "Content-Type: application/json", authorized(served), length), body
            )
        wait_for(lambda: any(line.get("flow") == "shelf.add-book" for line in served.lines()))
        served.ask_to_end()
        wait_for(lambda: any(line["event"] == "refused" for line in served.lines()))
        heard = [wire.hear("POST") for _ in range(3)]
    assert [one.status for one in heard] == [200, 200, 504]
    assert (heard[2].key, heard[2].told["reply"]["reply_type"]) == ("TIMEOUT", "E")
    assert served.stop() == 0


def test_a_second_signal_ends_it_at_once(serving: Serving, tmp_path: Path) -> None:
    served = serving(shutdown_seconds=600.0)
    with holding(served, tmp_path) as (wire, until):
        served.ask_to_end(signal.SIGINT)
        wait_for(closing(served))
        served.ask_to_end(signal.SIGINT)
        assert wire.hear("POST").key == "TIMEOUT"
        assert served.stop() == 0
        until.touch()
    assert [line["event"] for line in served.lines() if line["level"] == "error"] == ["refused"]


def test_who_listens_to_a_stream_is_told_that_it_ends(serving: Serving) -> None:
    served = serving(shutdown_seconds=600.0)
    opening = orjson.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "listener", "version": "1"},
            },
        }
    )
    accept = ["Accept: application/json, text/event-stream", authorized(served)]
    lines = ["Content-Type: application/json", f"Content-Length: {len(opening)}"]
    session = ask(served, "POST /mcp", *accept, *lines, body=opening).headers["mcp-session-id"]
    with Wire(served) as wire:
        wire.say(head(served, "GET /mcp", *accept, f"Mcp-Session-Id: {session}"))
        with served.client() as client:
            wait_for(lambda: "engross_requests_in_flight 2.0" in client.get("/metrics").text)
        served.ask_to_end()
        heard = wire.hear()
        assert (heard.status, heard.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    assert served.stop() == 0


def test_a_port_that_is_taken_is_told_clearly(serving: Serving) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(NotServed, match="MCP-CFG-E-001"):
        serving(port=taken.getsockname()[1])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_without_credentials_only_this_machine_is_served(host: str, tmp_path: Path) -> None:
    with pytest.raises(Failed) as refused:
        serve(Settings(data=tmp_path / "office"), host=host, port=0, auth=False)
    assert refused.value.params == {"setting": "host"}
    assert not (tmp_path / "office").exists()


@pytest.mark.parametrize(
    "settings", [{"hosts": "office.example.org"}, {"public_url": "https://x.example"}, {"origins": "https://x.example"}]
)
def test_without_credentials_nobody_elses_name_is_answered_to(settings: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(Failed) as refused:
        serve(Settings(data=tmp_path / "office", **settings), port=0, auth=False)  # type: ignore[arg-type]
    assert refused.value.params == {"setting": "hosts"}


def test_with_credentials_all_addresses_can_be_served(serving: Serving) -> None:
    served = serving(host="0.0.0.0")
    assert served.url == f"http://127.0.0.1:{served.port}"
    assert ask(served, "GET /v1/shelf/list-books").status == 401
    assert ask(served, "GET /v1/shelf/list-books", authorized(served)).status == 200
    assert ask(served, "GET /health/live", host="evil.example").status == 421


def test_without_credentials_everybody_is_an_agent_and_nobody_a_person(serving: Serving) -> None:
    with_credentials = serving()
    owner = with_credentials.owner
    with_credentials.stop()
    served = serving(auth=False)
    assert (served.owner, served.agent) == ("", "")
    with served.client() as nobody, served.client(owner) as somebody:
        for client in (nobody, somebody):
            made = client.post("/v1/shelf/add-book", json={"title": "Whose?"}).json()
            assert made["reply"]["message_key"] == "PROPOSAL_RECORDED"
            waiting = {"proposal_id": made["proposal"]["id"]}
            approved = client.post("/v1/proposals/review-proposal", json={**waiting, "decision": "approve"})
            assert approved.json()["reply"]["message_key"] == "PEOPLE_ONLY"
            assert client.get("/v1/door/list-tokens").json()["reply"]["message_key"] == "PEOPLE_ONLY"
    assert ask(served, "GET /v1/shelf/list-books", "Origin: http://evil.example").status == 403
    assert ask(served, "GET /v1/shelf/list-books", host="evil.example").status == 421


def test_a_unix_socket_is_for_its_owner_and_goes_with_the_server(serving: Serving, tmp_path: Path) -> None:
    path = tmp_path / "office.sock"
    leftover = socket.socket(socket.AF_UNIX)
    leftover.bind(str(path))
    leftover.close()
    served = serving(unix_socket=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
        assert client.get("/health/ready").status_code == 200
        assert client.get("/v1/shelf/list-books").status_code == 401
        books = client.get("/v1/shelf/list-books", headers=served.headers(served.owner))
        assert books.status_code == 200
        # A proxy may stand at the other end.
        assert client.get("/metrics").status_code == 401
    with pytest.raises(NotServed, match="MCP-CFG-E-001"):
        serving(unix_socket=path)
    assert served.stop() == 0
    assert not path.exists()


@pytest.mark.shows_text
@pytest.mark.parametrize(("letters", "problem"), [(120, "bytes is too long for a socket"), (300, "name too long")])
def test_a_path_that_is_too_long_for_a_socket_is_said_to_be(tmp_path: Path, letters: int, problem: str) -> None:
    with pytest.raises(Failed) as refused:
        bind_unix(tmp_path / ("x" * letters))
    assert problem in str(refused.value.data)


def test_what_is_no_socket_is_left_alone(serving: Serving, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    with pytest.raises(NotServed, match="MCP-CFG-E-001"):
        serving(unix_socket=precious)
    assert precious.read_text() == "mine"


def test_an_office_that_may_not_be_written_to_is_served_with_the_tokens_it_has(serving: Serving) -> None:
    first = serving()
    owner = first.owner
    first.stop()
    served = serving(read_only=True)
    assert served.owner == owner
    assert served.call("shelf.list-books").status_code == 200
    assert served.call("shelf.add-book", {"title": "No"}).json()["reply"]["message_key"] == "READ_ONLY"
