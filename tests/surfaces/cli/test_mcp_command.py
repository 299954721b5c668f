"""`engross mcp`: an office for one agent, over standard input and output."""

from __future__ import annotations

import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.bed.receiver import Receiver
from tests.surfaces.cli.shell import COMMAND, Shell, plain, spawn, start

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
# The SDK itself brings a web server and a client along.
NOT_NEEDED = ("typer", "rich", "structlog", "jwt", "prometheus_client", "redis", "psycopg", "engross.surfaces.client")


class Agent:
    """The client's end of the pipes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._last = 0
        self.said = ""
        """What was said to standard error, once it is over."""

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """A request, and its answer."""
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            message: dict[str, Any] = orjson.loads(self._process.stdout.readline())
            if message.get("id") == self._last:
                return message

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's structured answer."""
        answer: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["result"]["structuredContent"]
        return answer

    def begin(self, tool: str, **arguments: Any) -> None:
        """A call whose answer nobody waits for."""
        self._last += 1
        params = {"name": tool, "arguments": arguments}
        self._send({"jsonrpc": "2.0", "id": self._last, "method": "tools/call", "params": params})

    def tell(self, method: str, params: object) -> None:
        """Something that has no answer."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def greet(self) -> Agent:
        """Begin."""
        self.ask("initialize", **HELLO)
        self.tell("notifications/initialized", {})
        return self

    def tools(self) -> set[str]:
        """The names of the tools that are listed."""
        return {tool["name"] for tool in self.ask("tools/list")["result"]["tools"]}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps(message).decode() + "\n")
        self._process.stdin.flush()


@contextmanager
def agent(shell: Shell, *words: str, **options: Any) -> Iterator[Agent]:
    process = start("mcp", *shell.there, *words, **options)
    try:
        scout = Agent(process).greet()
        yield scout
        _, scout.said = process.communicate(timeout=30)
        assert (process.returncode, "Traceback" in scout.said) == (0, False), scout.said
    finally:
        process.kill()
        process.communicate()


def test_the_operating_systems_user_has_an_agent_that_proposes(shell: Shell) -> None:
    with agent(shell) as scout:
        assert {"addBook", "find_flow"} <= scout.tools()
        assert scout.call("addBook", title="Dune")["reply"]["message_key"] == "PROPOSAL_RECORDED"
        assert scout.call("listBooks")["books"] == []


def test_the_owner_of_the_folder_may_give_it_another_role_but_no_approval(local: Shell) -> None:
    with agent(local, "--role", "curator", "--toolsets", "shelf,review") as scout:
        assert scout.call("addBook", title="Dune")["reply"]["message_key"] == "CREATED"
        assert "reviewProposal" not in scout.tools()
        assert "listProposals" in scout.tools()
    assert local.run("facts", "--json").json["facts"][0]["type"].endswith("BookAdded.v2")


def test_toolsets_choose_what_is_listed_and_a_tenant_whose_office_it_is(local: Shell) -> None:
    assert local.run("shelf", "add-book", "--title", "Dune", "--tenant", "blue").code == 0
    with agent(local, "--toolsets", "record", "--tenant", "blue") as scout:
        assert "addBook" not in scout.tools()
        assert len(scout.call("readFacts")["facts"]) == 1


@pytest.mark.requirement("ECO-05")
def test_read_only_lists_no_write_and_refuses_one_all_the_same(local: Shell) -> None:
    with agent(local, "--read-only", "--role", "admin") as scout:
        assert scout.tools().isdisjoint({"addBook", "changeBook", "removeBook", "importBooks"})
        assert "listBooks" in scout.tools()
        refused = scout.ask(
            "tools/call", name="run_flow", arguments={"flow": "shelf.add-book", "arguments": {"title": "x"}}
        )
        assert refused["result"]["isError"] is True
    assert local.run("facts", "--json").json["facts"] == []


def test_what_a_capability_prints_does_not_disturb_the_protocol(tmp_path: Path) -> None:
    chatty = tmp_path / "chatty.py"
    chatty.write_text(
        "print('hello')\nfrom engross import Aggregate\nfrom engross.flows import NoArguments\n"
        "chat = Aggregate('chat', 'Chat')\n@chat.read\n"
        "def listen(reader, arguments: NoArguments) -> dict[str, object]:\n    'Listen.'\n    return {'heard': 1}\n"
    )
    with agent(Shell(tmp_path / "office", None, [chatty])) as scout:
        assert scout.call("listen")["heard"] == 1


def test_it_logs_calls_to_standard_error_if_it_is_asked_to(local: Shell) -> None:
    local.run("record", "who-am-i")
    with agent(local, "--log-level", "info") as scout:
        called = scout.call("addBook", title="a secret title")["reply"]
        refused = scout.call("addBook", tite="x")["reply"]
    with agent(local) as silent:
        silent.call("listBooks")
    first, second = map(orjson.loads, scout.said.splitlines())
    assert (first["event"], first["flow"], first["surface"]) == ("call", "shelf.add-book", "mcp-stdio")
    assert (first["trace_id"], second["trace_id"]) == (called["trace_id"], refused["trace_id"])
    assert (first["level"], second["level"]) == ("info", "warning")
    assert "secret" not in scout.said
    assert silent.said == ""


def test_what_a_client_says_wrong_is_no_reason_to_say_anything_to_standard_error(local: Shell) -> None:
    local.run("record", "who-am-i")
    with agent(local) as scout:
        for params in ({"requestId": {"a": 1}}, 5):
            scout.tell("notifications/cancelled", params)
        scout.call("listBooks")
    assert scout.said == ""


def test_its_calls_are_spans_where_the_settings_say_so(local: Shell, receiver: Receiver) -> None:
    with agent(local, env={"ENGROSS_OTLP": receiver.url}) as scout:
        called = scout.call("addBook", title="Dune")["reply"]
    (span,) = receiver.spans()
    assert (span["name"], span["trace_id"], span["engross.surface"]) == (
        "shelf.add-book",
        called["trace_id"],
        "mcp-stdio",
    )


def test_a_receiver_that_is_not_there_keeps_no_office_from_closing(local: Shell) -> None:
    local.run("record", "who-am-i")
    with agent(local, env={"ENGROSS_OTLP": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}) as scout:
        scout.call("addBook", title="Dune")
    assert scout.said == ""


def close_input(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None


ENDS = {
    "end of input": (close_input, 0),
    "SIGTERM": (lambda process: process.send_signal(signal.SIGTERM), 0),
    "SIGINT": (lambda process: process.send_signal(signal.SIGINT), 130),
}


@pytest.mark.parametrize(("end", "code"), ENDS.values(), ids=ENDS)
def test_however_it_is_ended_spans_go_out_and_the_office_closes(
    local: Shell, receiver: Receiver, end: Callable[[subprocess.Popen[str]], None], code: int
) -> None:
    local.run("record", "who-am-i")
    process = start("mcp", *local.there, env={"ENGROSS_OTLP": receiver.url})
    try:
        called = Agent(process).greet().call("addBook", title="Dune")["reply"]
        assert is_open(local.folder)
        end(process)
        # Not by `communicate`, which would close the input.
        assert process.wait(30) == code
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()
    assert [span["trace_id"] for span in receiver.spans()] == [called["trace_id"]]
    assert not is_open(local.folder)


def is_open(folder: Path) -> bool:
    """Whether the office's store was left open: its log is there as long as somebody has it."""
    return any(folder.glob("*-wal"))


def test_what_it_does_when_sigterm_comes_is_answered(tmp_path: Path) -> None:
    quitter = tmp_path / "quitter.py"
    quitter.write_text(
        "import os, signal\nfrom engross import Aggregate\nfrom engross.flows import NoArguments\n"
        "work = Aggregate('work', 'Work')\n@work.read\n"
        "def quit(reader, arguments: NoArguments) -> dict[str, object]:\n    'Send SIGTERM.'\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n    return {'sent': True}\n"
    )
    process = start("mcp", *Shell(tmp_path / "office", None, [quitter]).there)
    try:
        assert Agent(process).greet().call("quit")["sent"] is True
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_client_that_reads_no_more_does_not_keep_it_from_ending(local: Shell) -> None:
    local.run("record", "who-am-i")
    process = start("mcp", *local.there)
    try:
        scout = Agent(process).greet()
        for number in range(200):
            scout.begin("addBook", title=f"Book {number}")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def test_where_the_protocol_has_nowhere_to_go_that_is_said(local: Shell) -> None:
    line = f"exec {shlex.join(COMMAND)} mcp {shlex.join(map(str, local.there))} >&-"
    given: dict[str, Any] = {"input": "", "capture_output": True, "text": True, "timeout": 30, "check": False}
    done = subprocess.run(["bash", "-c", line], env=plain(), **given)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_sigterm_does_not_hurry_what_is_being_written_down(local: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as receiver:
        url = f"http://127.0.0.1:{receiver.getsockname()[1]}"
        process = start("mcp", *local.there, env={"ENGROSS_OTLP": url, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"})
        try:
            Agent(process).greet().call("addBook", title="Dune")
            close_input(process)
            # Spans are on their way.
            with receiver.accept()[0]:
                process.send_signal(signal.SIGTERM)
                assert process.wait(30) == 0
        finally:
            process.kill()
            process.communicate()


def test_variables_that_somebody_else_reads_are_no_wish_for_spans(local: Shell, receiver: Receiver) -> None:
    with agent(local, env={"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}) as scout:
        scout.call("addBook", title="Dune")
    assert receiver.spans() == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--role", "king"], 2),
        (["--log-level", "loud"], 4),
        (["--toolsets", "shelv"], 4),
        (["--capability", "nowhere.py"], 4),
        (["--dat", "x"], 2),
        (["--port", "1"], 2),
        (["extra"], 2),
    ],
)
def test_what_makes_no_sense_ends_it_before_it_says_anything(tmp_path: Path, words: list[str], code: int) -> None:
    done = spawn("mcp", "--data", tmp_path / "office", *words, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (code, "", False)
    assert done.stderr != ""


def test_a_role_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    done = spawn("mcp", "--data", tmp_path / "office", "--role", "boss", stdin=subprocess.DEVNULL)
    assert done.stderr.splitlines()[1].startswith("VALIDATION_ERROR")
    assert {"field:", "curator"} <= set(done.stderr.split())
    assert "{" not in done.stderr


def test_a_new_office_is_said_to_be_new_on_standard_error_once_and_nothing_else_is(tmp_path: Path) -> None:
    said = [spawn("mcp", "--data", tmp_path / "office", stdin=subprocess.DEVNULL) for _ in range(2)]
    assert [done.stdout for done in said] == ["", ""]
    assert [done.stderr for done in said] == [f"made a new office in {tmp_path / 'office'}\n", ""]


def test_it_has_help_of_its_own() -> None:
    done = spawn("mcp", "--help")
    assert done.returncode == 0
    assert {"--data", "--role", "--toolsets", "--read-only", "--capability"} <= set(
        done.stdout.replace("[", " ").split()
    )


def test_it_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['engross', 'mcp', '--data', {str(tmp_path / 'office')!r}]\n"
        "from engross.surfaces.cli import main\n"
        "main()\n"
        f"print(sorted(set({NOT_NEEDED!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], input="", capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"
