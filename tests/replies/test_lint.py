"""The lint finds what breaks a rule and leaves alone what does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from engross.replies.generate import read_entries
from tools import reply_lint
from tools.reply_lint import LAYERS, look_at, look_through, main

HEAD = "from engross.replies import Denied, Failed, Invalid, Issue, Reply, codes, mcp_safe_tool, reply\n"


def found(snippet: str, path: str = "src/engross/office/x.py") -> list[str]:
    return [finding.rule for finding in look_at(HEAD + dedent(snippet), path)]


BREAKS: list[tuple[str, str]] = [
    ("L1", "if answer.message == 'gone': pass"),
    ("L1", "x = 'gone' in answer.message"),
    ("L1", "x = 'gone' in body['reply']['message'].lower()"),
    ("L1", "x = body.get('message') != 'ok'"),
    ("L1", "x = answer.message.startswith('No')"),
    ("L1", "x = re.search('gone', answer.message)"),
    ("L1", "x = PATTERN.match(str(my_reply))"),
    ("L1", "x = str(reply) == 'x'"),
    ("L1", "if answer.message: pass"),
    ("L1", "x = 1 if answer.message else 2"),
    ("L1", "match answer.message:\n    case 'gone': pass"),
    ("L2", "x = 'WA-RES-I-001'"),
    ("L2", "x = {'code': 'EN-WRITE-D-002'}"),
    ("L3", "x = Reply('x')"),
    ("L3", "x = replies.Reply('x')"),
    ("L3", "x = object.__new__(Reply)"),
    ("L3", "x = {'reply_type': 'S'}"),
    ("L3", "x = {'reply_type': answer.reply_type, **more}"),
    ("L3", "x = dict(reply_type='S')"),
    ("L4", "@server.tool()\ndef f() -> Reply: ..."),
    ("L4", "@mcp_safe_tool\n@server.tool\ndef f() -> Reply: ..."),
    ("L4", "@server.tool\n@mcp_safe_tool\ndef f() -> dict: ..."),
    ("L4", "@server.tool\n@mcp_safe_tool\nasync def f(): ..."),
    ("L4", "@mcp_safe_tool(timeout=3)\ndef f() -> None: ..."),
    ("L4", "def f() -> Reply: ...\nserver.add_tool(f)"),
    ("L5", "def f():\n    try: g()\n    except Exception: return reply(codes.RECORD_NOT_FOUND)"),
    ("L5", "def f():\n    try: g()\n    except Exception: return reply(codes.WRITE_DENIED)"),
    ("L5", "def f():\n    try: g()\n    except: return reply(codes.SYS_OK)"),
    ("L5", "try: g()\nexcept (KeyError, BaseException):\n    if x: raise Denied(codes.READ_ONLY)"),
    ("L6", "def f(): raise HTTPException(404)"),
    ("L6", "def f(): raise mcp.McpError('x')"),
    ("L6", "def f(): raise JSONRPCError"),
    ("L8", "reply(codes.SYS_OK)"),
    ("L8", "Invalid(codes.NO_CHANGES)"),
    ("L8", "def f():\n    Denied(codes.READ_ONLY)"),
    ("L9", "rb.info('x')"),
    ("L9", "x = self.reply_builder.fail('x')"),
    ("L9", "x = answer.reply_type == 'W'"),
    ("L9", "x = body['reply_type'] in ('S', 'P')"),
    ("L9", "x = answer.reply_type in 'SX'"),
    ("L9", "match answer.reply_type:\n    case 'S' | 'W': pass"),
    ("C10", "x = codes.NO_SUCH_THING"),
]
KEEPS: list[tuple[str, str]] = [
    ("L1", "x = answer.message\nprint(str(answer))"),
    ("L1", "if answer.code == codes.NO_CHANGES: pass"),
    ("L1", "x = {'message': answer.message}"),
    ("L1", "x = error.message == 'theirs'  # reply-lint: L1 because it is the parser's own error"),
    ("L2", "x = codes.PATH_NOT_FOUND\ny = 'see WA-RES-I-001 for more'"),
    ("L3", "x = reply(codes.SYS_OK)\ny = isinstance(x, Reply)"),
    ("L3", "x = {'reply_type': {'type': 'string', 'enum': ['S', 'I', 'D', 'E']}}"),
    ("L4", "@server.tool()\n@mcp_safe_tool\ndef f() -> Reply: ..."),
    ("L4", "@mcp_safe_tool(strict=False)\ndef f() -> dict: ..."),
    ("L4", "def f() -> dict: ...\nserver.add_tool(mcp_safe_tool(f))\ndef g() -> dict: ..."),
    ("L5", "def f():\n    try: g()\n    except KeyError: return reply(codes.RECORD_NOT_FOUND)"),
    ("L5", "def f():\n    try: g()\n    except Exception as e: return reply(codes.SYS_CRASH)"),
    ("L5", "try: g()\nexcept Exception:\n    def h(): return reply(codes.NO_CHANGES)\n    raise"),
    ("L6", "def f(): raise Invalid(codes.NO_CHANGES)"),
    ("L6", "def f():\n    try: g()\n    except HTTPError: raise ValueError"),
    ("L8", "def f(): return reply(codes.SYS_OK)"),
    ("L8", "x = Invalid(codes.NO_CHANGES)\ndef f(): raise x"),
    ("L9", "log.info('x')\nx = answer.reply_type in ('I', 'D')"),
    ("L9", "match answer.reply_type:\n    case 'S': pass\n    case 'I' | 'D' | 'E': pass"),
    ("C10", "x = codes.NO_CHANGES\ny = other.NO_SUCH_THING"),
]


@pytest.mark.parametrize(("rule", "snippet"), BREAKS)
@pytest.mark.requirement("REP-02", "REP-03")
def test_a_breach_is_found(rule: str, snippet: str) -> None:
    assert set(found(snippet)) == {rule}


@pytest.mark.parametrize(("rule", "snippet"), KEEPS)
@pytest.mark.requirement("REP-02", "REP-03")
def test_what_keeps_the_rules_is_left_alone(rule: str, snippet: str) -> None:
    assert found(snippet) == []


def test_each_rule_has_a_breach_and_a_counterpart() -> None:
    rules = {f"L{number}" for number in range(1, 10)} - {"L7"} | {"C10"}
    assert {rule for rule, _ in BREAKS} == rules
    assert {rule for rule, _ in KEEPS} == rules


@pytest.mark.parametrize(
    ("path", "key", "allowed"),
    [
        ("domains/memory/x.py", "RECORD_NOT_FOUND", True),
        ("domains/memory/x.py", "WRITE_DENIED", False),
        ("domains/memory/x.py", "VALIDATION_ERROR", False),
        ("store/x.py", "STORE_FULL", True),
        ("store/x.py", "READ_ONLY", False),
        ("store/x.py", "TIMEOUT", True),
        ("ledger/x.py", "PAYLOAD_ERASED", True),
        ("ledger/x.py", "PROPOSAL_STATE", False),
        ("governance/proposals.py", "PROPOSAL_STATE", True),
        ("governance/proposals.py", "SELF_APPROVAL", False),
        ("governance/policy.py", "SELF_APPROVAL", True),
        ("governance/policy.py", "RECORD_NOT_FOUND", False),
        ("pipeline/check.py", "VALIDATION_ERROR", True),
        ("pipeline/check.py", "WRITE_DENIED", False),
        ("pipeline/admit.py", "AUTH_REQUIRED", True),
        ("pipeline/allow.py", "RATE_LIMIT_EXCEEDED", True),
        ("pipeline/allow.py", "VALIDATION_ERROR", False),
        ("pipeline/govern.py", "CONFIRMATION_REQUIRED", True),
        ("pipeline/govern.py", "PROPOSAL_RECORDED", False),
        ("pipeline/remember.py", "IDEMPOTENCY_KEY_REUSED", True),
        ("pipeline/remember.py", "IDEMPOTENCY_KEY_REQUIRED", True),
        ("pipeline/remember.py", "VALIDATION_ERROR", False),
        ("pipeline/record.py", "CREATED", True),
        ("pipeline/record.py", "VALIDATION_ERROR", False),
        ("pipeline/perform.py", "PROPOSAL_RECORDED", True),
        ("flows/x.py", "UNKNOWN_OPERATION", True),
        ("flows/x.py", "RECORD_NOT_FOUND", False),
        ("surfaces/rest/x.py", "AUTH_INVALID", True),
        ("surfaces/rest/x.py", "WRITE_DENIED", False),
        ("replies/x.py", "SYS_CRASH", True),
        ("replies/x.py", "CREATED", False),
        ("office/x.py", "WRITE_DENIED", True),
        ("office/x.py", "RECORD_NOT_FOUND", True),
    ],
)
@pytest.mark.requirement("REP-03")
def test_a_room_says_only_the_codes_of_its_layer(path: str, key: str, allowed: bool) -> None:
    assert found(f"x = codes.{key}", f"src/engross/{path}") == ([] if allowed else ["L7"])


@pytest.mark.requirement("REP-03")
def test_a_room_may_compare_with_any_code() -> None:
    snippet = """
        if answer.code == codes.WRITE_DENIED: pass
        if answer.code in (codes.READ_ONLY, codes.PEOPLE_ONLY): pass
        match answer.code:
            case codes.WRITE_DENIED: pass
        """
    assert found(snippet, "src/engross/domains/x.py") == []


def test_a_code_is_seen_through_every_kind_of_import() -> None:
    path = "src/engross/domains/x.py"
    for text in (
        "from engross import codes\nx = codes.WRITE_DENIED",
        "from engross.replies import codes as c\nx = c.WRITE_DENIED",
        "from engross.replies.codes import WRITE_DENIED\nx = WRITE_DENIED",
        "from engross.replies.codes import WRITE_DENIED as W\nx = W",
        "from ..replies import codes\nx = codes.WRITE_DENIED",
    ):
        assert [finding.rule for finding in look_at(text, path)] == ["L7"], text
    assert look_at("from http import codes\nx = codes.WRITE_DENIED", path) == []


@pytest.mark.parametrize(
    ("path", "snippet"),
    [
        ("replies/registry.py", "x = entry.message == 'a'"),
        ("replies/codes.py", "X = 'WA-RES-I-001'"),
        ("replies/reply.py", "x = object.__new__(Reply)"),
        ("replies/envelopes.py", "x = {'reply_type': answer.reply_type}"),
        ("surfaces/mcp/server.py", "def f(): raise McpError('unknown tool')"),
    ],
)
def test_the_one_place_for_something_may_do_it(path: str, snippet: str) -> None:
    assert found(snippet, f"src/engross/{path}") == []
    assert found(snippet, "src/engross/office/x.py") != []


def test_an_excuse_needs_a_reason_and_the_right_rule() -> None:
    assert found("x = error.message == 'a'  # reply-lint: L1") == ["L1"]
    assert found("x = error.message == 'a'  # reply-lint: L2 because") == ["L1"]


def test_a_finding_names_file_and_line() -> None:
    (finding,) = look_at("\nx = 'WA-RES-I-001'\n", "src/a.py")
    assert str(finding).startswith("src/a.py:2: L2 ")


def test_every_layer_in_the_map_exists() -> None:
    known = {entry.layer for entry in read_entries()} | {entry.key for entry in read_entries()}
    assert {name for _, names in LAYERS for name in names} <= known


@pytest.fixture
def small_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with a registry of two codes, one used."""
    registry = tmp_path / "registry.toml"
    registry.write_text(
        dedent(
            """
            [MCP-SYS-S-001]
            key = "SYS_OK"
            title = "Done"
            template = "Done."
            http = 200
            advice = "Go on."
            since = "0.1.0"
            status = "reserved"

            [MCP-SYS-E-001]
            key = "SYS_CRASH"
            title = "Failed"
            template = "Failed."
            http = 500
            advice = "Stop."
            since = "0.1.0"
            status = "active"
            """
        )
    )
    entries = {entry.key: entry for entry in read_entries(registry)}
    monkeypatch.setattr(reply_lint, "REGISTRY_FILE", registry)
    monkeypatch.setattr(reply_lint, "REGISTERED", entries)
    monkeypatch.setattr(reply_lint, "regenerate", lambda: None)
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.py").write_text(
        "from engross import codes, reply\nx = reply(codes.SYS_OK)\ny = z == codes.SYS_CRASH\n"
    )
    return source


@pytest.mark.requirement("REP-02")
def test_a_code_is_used_or_reserved(small_house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [(finding.rule, finding.line) for finding in look_through(small_house)] == [("C9", 2), ("C9", 11)]
    assert main([str(small_house)]) == 1
    assert "registry.toml:2: C9 SYS_OK" in capsys.readouterr().out


def test_flipping_sets_the_statuses_as_the_source_says(small_house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main([str(small_house), "--flip"]) == 0
    flipped = {entry.key: entry for entry in read_entries(reply_lint.REGISTRY_FILE)}
    assert {key: entry.status for key, entry in flipped.items()} == {
        "SYS_OK": "active",
        "SYS_CRASH": "reserved",
    }
    monkeypatch.setattr(reply_lint, "REGISTERED", flipped)
    assert main([str(small_house)]) == 0


def test_a_retired_code_may_not_be_used(small_house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = reply_lint.REGISTRY_FILE.read_text().replace('"reserved"', '"retired"')
    reply_lint.REGISTRY_FILE.write_text(text)
    monkeypatch.setattr(
        reply_lint, "REGISTERED", {entry.key: entry for entry in read_entries(reply_lint.REGISTRY_FILE)}
    )
    assert [finding.rule for finding in look_through(small_house)] == ["C10", "C9"]


def test_a_checkout_may_be_called_as_the_package_is() -> None:
    code = "x = 'WA-RES-I-001'"
    inside = [f"{folder}src/engross/replies/rows.py" for folder in ("", "/srv/engross/", "/srv/engross/engross/")]
    assert [found(code, path) for path in inside] == [[]] * 3
    assert found(code, "/srv/engross/src/engross/office/x.py") == ["L2"]


def test_without_a_folder_nothing_is_called_clean() -> None:
    assert main([]) == 1


ROOM = Path(__file__).resolve().parents[2] / "src" / "engross" / "replies"


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.name)
def test_this_room_keeps_its_own_rules(path: Path) -> None:
    assert look_at(path.read_text("utf-8"), str(path)) == []
