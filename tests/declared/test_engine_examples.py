"""The documents of the ladder of examples: they run, over every surface, without anybody else being there."""

from __future__ import annotations

import importlib.util
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from tests.bed.offices import EXAMPLES
from tests.bed.programs import PATIENCE_SECONDS, PROXIES
from tests.declared.papers import written
from tests.surfaces.cli.shell import run, start

DOCUMENTS = ("forecast", "stock", "orders")
PORT = "8077"
BY_A_PROCESS = ("cli", "rest", "mcp-http", "mcp-stdio")


@pytest.fixture(scope="module")
def system() -> ModuleType:
    """The upstream of the examples, as a module."""
    spec = importlib.util.spec_from_file_location("example_upstream", EXAMPLES / "upstream.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def there(system: ModuleType) -> Iterator[str]:
    """The upstream at a port."""
    server = system.server()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield str(server.server_address[1])
    server.shutdown()
    server.server_close()


def copied(name: str, folder: Path, port: str = PORT, *, recording: bool = True) -> Path:
    """A document in a folder of its own, with another port."""
    for file in (*EXAMPLES.glob(f"{name}*"), *EXAMPLES.glob(f"secrets/{name}*")):
        if recording or not file.name.endswith(".upstreams.json"):
            written(folder, file.read_text().replace(PORT, port), str(file.relative_to(EXAMPLES)))
    return folder / f"{name}.yaml"


def tried(*words: object) -> tuple[int, dict[str, Any]]:
    """What came of trying the examples out."""
    done = run("flow", "test", *words, "--json")
    return done.code, done.json


@pytest.mark.requirement("NEW-12")
@pytest.mark.parametrize(
    ("name", "surfaces"),
    [
        ("forecast", ("python", "rest", "mcp-http")),
        ("stock", ("python", "rest", "mcp-http")),
        ("orders", ("python", "cli", "rest", "mcp-http", "mcp-stdio")),
    ],
)
def test_the_examples_come_out_over_every_surface(name: str, surfaces: tuple[str, ...]) -> None:
    chosen = [word for surface in surfaces for word in ("--surface", surface)]
    code, answer = tried(EXAMPLES / f"{name}.yaml", *chosen)
    assert (code, answer["passed"]) == (0, True), answer
    assert {trial["surface"] for trial in answer["trials"]} == set(surfaces)
    assert "not offered" not in {trial["outcome"] for trial in answer["trials"]}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_recording_is_what_the_upstream_really_answers(
    name: str, there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: ModuleType
) -> None:
    monkeypatch.setenv("ENGROSS_PRIVATE_HOSTS", "127.0.0.1")
    file = copied(name, tmp_path, there, recording=False)
    done = run("flow", "test", file, "--record", "--surface", "python", env={"ENGROSS_PRIVATE_HOSTS": "127.0.0.1"})
    assert done.code == 0, done
    made = (tmp_path / f"{name}.upstreams.json").read_text()
    assert system.KEY not in made
    assert json.loads(made.replace(there, PORT)) == json.loads((EXAMPLES / f"{name}.upstreams.json").read_text())


def test_an_example_that_does_not_come_out_is_named_and_ends_with_1(tmp_path: Path) -> None:
    file = copied("stock", tmp_path)
    file.write_text(file.read_text().replace("price: 0.35", "price: 0.36"))
    code, answer = tried(file, "--surface", "python")
    failed = [trial for trial in answer["trials"] if not trial["passed"]]
    assert (code, answer["passed"]) == (1, False)
    assert [(trial["example"], trial["surface"]) for trial in failed] == [("A bolt from Sheffield", "python")]
    assert failed[0]["problems"][0].startswith("answer.price")


def test_what_is_not_recorded_is_not_called(tmp_path: Path) -> None:
    code, answer = tried(copied("stock", tmp_path, recording=False), "--surface", "python")
    assert code == 1
    assert {trial["outcome"] for trial in answer["trials"]} == {"UPSTREAM_UNRECORDED"}


def test_recording_that_fails_says_why(tmp_path: Path) -> None:
    code, answer = tried(copied("stock", tmp_path, recording=False), "--record", "--surface", "rest")
    assert code == 1
    assert {trial["outcome"] for trial in answer["trials"]} == {"HOST_REFUSED"}
    assert not (tmp_path / "stock.upstreams.json").exists()


@pytest.mark.shows_text
def test_whoever_has_no_recording_yet_is_told_how_to_make_one(tmp_path: Path) -> None:
    done = run("flow", "test", copied("stock", tmp_path, recording=False), "--surface", "python")
    assert done.code == 1
    assert "--record" in done.out


def test_all_documents_of_the_examples_can_be_checked_at_once() -> None:
    documents = sorted(EXAMPLES.glob("*.yaml"))
    assert len(documents) >= 3
    assert run("flow", "check", *documents, "--strict").code == 0


def test_recording_that_fails_keeps_what_was_there(tmp_path: Path) -> None:
    file = copied("stock", tmp_path, "1")
    before = (tmp_path / "stock.upstreams.json").read_bytes()
    assert tried(file, "--record", "--surface", "python")[0] in (0, 1)
    assert (tmp_path / "stock.upstreams.json").read_bytes() == before


@pytest.mark.parametrize("told", ["SIGINT", "SIGTERM"])
def test_recording_that_is_interrupted_keeps_what_was_there(told: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE_SECONDS)
        file = copied("forecast", tmp_path, str(silent.getsockname()[1]))
        before = (tmp_path / "forecast.upstreams.json").read_bytes()
        with start("flow", "test", file, "--record", env={"ENGROSS_PRIVATE_HOSTS": "127.0.0.1"}) as recording:
            asked, _ = silent.accept()
            recording.send_signal(getattr(signal, told))
            recording.communicate(timeout=PATIENCE_SECONDS)
            asked.close()
    assert recording.returncode != 0
    assert {path.name for path in tmp_path.iterdir()} == {"forecast.yaml", "forecast.upstreams.json"}
    assert (tmp_path / "forecast.upstreams.json").read_bytes() == before


def test_what_a_new_recording_has_not_is_gone_from_the_old_one(there: str, tmp_path: Path) -> None:
    file = copied("forecast", tmp_path, there)
    recording = tmp_path / "forecast.upstreams.json"
    before = json.loads(recording.read_text())
    stale = {"request": {"method": "GET", "url": "http://stale.example"}, "response": {"status": 200, "headers": {}}}
    recording.write_text(json.dumps({**before, "exchanges": [*before["exchanges"], stale]}))
    done = run("flow", "test", file, "--record", "--surface", "python", env={"ENGROSS_PRIVATE_HOSTS": "127.0.0.1"})
    assert done.code == 0, done
    assert json.loads(recording.read_text()) == before


@pytest.mark.shows_text
def test_a_recording_that_cannot_be_written_is_refused(there: str, tmp_path: Path) -> None:
    file = copied("forecast", tmp_path, there, recording=False)
    (tmp_path / "forecast.upstreams.json").mkdir()
    done = run("flow", "test", file, "--record", "--surface", "python", env={"ENGROSS_PRIVATE_HOSTS": "127.0.0.1"})
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert "forecast.upstreams.json" in done.err


def test_the_office_that_the_environment_speaks_of_is_left_alone(tmp_path: Path) -> None:
    of_that_office = {
        "ENGROSS_STORE": "postgresql://nobody@127.0.0.1:1/nothing",
        "ENGROSS_PUBLIC_URL": "http://127.0.0.1:1",
        "ENGROSS_READ_ONLY": "true",
        "ENGROSS_MOST_BODY_BYTES": "1",
        **dict.fromkeys(PROXIES, "http://127.0.0.1:1"),
    }
    done = run("flow", "test", copied("orders", tmp_path), "--json", env=of_that_office)
    assert (done.code, done.json["passed"]) == (0, True), done.json


def test_what_documents_go_by_holds_in_a_trial_too(tmp_path: Path) -> None:
    file = copied("orders", tmp_path)
    text = (
        file.read_text()
        .replace('location: "file:///./secrets/orders.yaml", ', "")
        .replace("DESK_KEY: desk", "DESK_KEY: A_KEY")
    )
    # The name of a domain may be taken where the office does without the domain.
    for place in (" orders:\n      display", "orders.place-order", "orders.get-order"):
        text = text.replace(place, place.replace("orders", "memory"))
    file.write_text(text)
    words = ["flow", "test", file, "--surface", "python", "--surface", "cli", "--json"]
    done = run(*words, env={"A_KEY": "a-key", "ENGROSS_DOMAINS": "documents"})
    assert (done.code, done.json.get("passed")) == (0, True), done.json


@pytest.mark.parametrize("surface", BY_A_PROCESS)
def test_a_file_that_lies_in_the_current_folder_is_not_taken_for_a_module_of_pythons(
    surface: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("queue", "copy", "engross"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w')\nraise SystemExit('executed')\n")
    monkeypatch.chdir(tmp_path)
    code, answer = tried(EXAMPLES / "forecast.yaml", "--surface", surface)
    assert (code, answer["passed"]) == (0, True), answer
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("surface", BY_A_PROCESS)
def test_what_a_process_said_that_gave_no_answer_is_told(
    surface: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engross.py").write_text("raise SystemExit('no ribbon, password=hunter2')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code, answer = tried(EXAMPLES / "forecast.yaml", "--surface", surface)
    assert (code, answer["reply"]["message_key"]) == (4, "OFFICE_UNREACHABLE")
    assert answer["said"] == "no ribbon, password=***"
    assert "no ribbon" in run("flow", "test", EXAMPLES / "forecast.yaml", "--surface", surface).err


def test_a_surface_that_is_none_is_refused() -> None:
    assert run("flow", "test", EXAMPLES / "stock.yaml", "--surface", "telex").code == 2


def test_a_run_shows_each_request_output_and_mapping(tmp_path: Path) -> None:
    words = ["flow", "run", "item-with-supplier", "-a", '{"sku": "B-100"}', "--trace", "--data", tmp_path / "office"]
    recorded = {"ENGROSS_UPSTREAMS": "recorded"}
    done = run(*words, "--capability", EXAMPLES / "stock.yaml", "--json", env=recorded)
    steps = {step["step"]: step for step in done.json["steps"]}
    assert steps["item"]["request"]["url"] == f"http://127.0.0.1:{PORT}/items/B-100"
    assert steps["price"]["output"] == {"amount": 0.35, "currency": "EUR"}
    assert steps["supplier"]["type"] == "lookup"
    assert steps["stock.item-with-supplier"]["mappings"][0]["target"] == "sku"
    shown = run(*words, "--capability", EXAMPLES / "stock.yaml", env=recorded)
    assert shown.code == 0
    assert "/items/B-100" in shown.out


def test_a_trace_does_not_show_what_is_bound(tmp_path: Path, system: ModuleType) -> None:
    words = ["flow", "run", "orders.place-order", "-a", '{"sku": "N-200", "quantity": 3}', "--trace"]
    there = ["--data", tmp_path / "office", "--capability", EXAMPLES / "orders.yaml"]
    done = run(*words, *there, "--json", env={"ENGROSS_UPSTREAMS": "recorded"})
    assert done.code == 0, done
    assert system.KEY not in done.out + done.err
    order = next(step for step in done.json["steps"] if step["step"] == "order")
    assert order["request"]["headers"]["X-Api-Key"] == "[hidden]"


def test_an_unknown_flow_is_refused_with_the_nearest(tmp_path: Path) -> None:
    words = ["flow", "run", "item-with-suplier", "--data", tmp_path / "office"]
    done = run(*words, "--capability", EXAMPLES / "stock.yaml", "--json")
    assert (done.code, done.key) == (2, "UNKNOWN_OPERATION")
    assert "stock.item-with-supplier" in done.json["suggestions"]["did_you_mean"]
