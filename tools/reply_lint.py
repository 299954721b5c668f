"""Keeps the source honest about replies: nobody branches on wording, and everybody stays in their own layer.

python tools/reply_lint.py src          name what is wrong, as file:line: rule what
python tools/reply_lint.py src --flip   make each code active or reserved in the registry, as the source says

A line may excuse itself with a comment `# reply-lint: L1 because ...`; the reason is required.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from os.path import relpath
from pathlib import Path
from typing import NamedTuple

from engross.replies.entry import CODE, TYPES, Entry
from engross.replies.generate import SOURCE, read_entries

# Who speaks for which layer, by path in the package; the first match counts, an unlisted path may use any.
# A layer stands for all its codes; a message key adds that one.
LAYERS: tuple[tuple[str, frozenset[str]], ...] = (
    ("replies/*", frozenset({"MCP"})),
    ("domains/*", frozenset({"WA"})),
    ("store/*", frozenset({"WA"})),
    ("ledger/*", frozenset({"WA"})),
    ("governance/proposal*", frozenset({"CT"})),
    ("governance/token*", frozenset({"CT"})),
    ("governance/*", frozenset({"EN"})),
    ("pipeline/check.py", frozenset({"MCP"})),
    ("pipeline/admit.py", frozenset({"MCP"})),
    ("pipeline/allow.py", frozenset({"EN"})),
    ("pipeline/govern.py", frozenset({"EN"})),
    ("pipeline/remember.py", frozenset({"WA", "IDEMPOTENCY_KEY_REQUIRED", "OUTCOME_UNKNOWN", "SYS_OK"})),
    ("pipeline/record.py", frozenset({"EN", "CT", "WA"})),
    ("pipeline/perform.py", frozenset({"EN", "CT", "WA"})),
    ("flows/*", frozenset({"MCP"})),
    ("surfaces/*", frozenset({"MCP"})),
)
# Failures of the house itself, which every room may meet.
EVERYWHERE = ("MCP-SYS-E-", "MCP-CFG-E-")
REGISTRY_FILE = SOURCE
# Files that are the one place for something.
RENDERERS = ("replies/registry.py", "replies/template.py")
LITERALS = ("replies/codes.py", "replies/rows.py")
CONSTRUCTOR = ("replies/reply.py",)
ENVELOPES = ("replies/envelopes.py", "replies/calllog.py")
TRANSPORTS = ("surfaces/*",)

MAKERS = frozenset({"reply", "reply_of", "Invalid", "Denied", "Failed", "Coded", "Issue"})
CODED_TYPES = {"Invalid": "I", "Denied": "D", "Failed": "E"}
TEXT_TESTS = frozenset({"startswith", "endswith", "find", "rfind", "index", "count", "__contains__", "__eq__"})
TEXT_STEPS = frozenset({"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "split", "partition", "replace"})
PATTERN_TESTS = frozenset({"match", "search", "fullmatch", "findall", "finditer"})
TRANSPORT_ERROR = re.compile(r"(HTTP|Http|MCP|Mcp|JSONRPC|JsonRpc|Rpc|Tool)\w*(Error|Exception)")
STATEFUL = frozenset({"info", "warn", "warning", "fail"})
BUILDERS = frozenset({"rb", "reply_builder", "replybuilder"})
EXCUSE = re.compile(r"# reply-lint: (L\d)\s+\S.*")
BROAD = frozenset({"Exception", "BaseException"})


class Finding(NamedTuple):
    """One thing to mend."""

    path: str
    line: int
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule} {self.what}"


@dataclass(frozen=True, slots=True)
class Use:
    """A code named in the source; `said` unless it is only compared with."""

    key: str
    line: int
    said: bool


@dataclass
class Source:
    """One parsed file."""

    path: str
    place: str
    tree: ast.Module
    lines: list[str]
    uses: list[Use] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, path: str) -> Source:
        source = cls(path, _place(path), ast.parse(text, path), text.splitlines())
        source.uses = list(_uses(source.tree))
        return source

    def lies_in(self, places: Iterable[str]) -> bool:
        return any(fnmatch(self.place, place) for place in places)

    def excuses(self, finding: Finding) -> bool:
        excuse = EXCUSE.search(self.lines[finding.line - 1]) if finding.line <= len(self.lines) else None
        return excuse is not None and excuse[1] == finding.rule


def _place(path: str) -> str:
    """Where a file lies in the package. A checkout may well be called as the package is."""
    return f"/{Path(path).as_posix()}".rpartition("/engross/")[2].lstrip("/")


# --- looking at expressions


def _name(node: ast.AST | None) -> str:
    """The last name of a dotted expression or of what is called."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _reads(node: ast.AST, word: str) -> bool:
    """Is it x.word, x["word"] or x.get("word")?"""
    if isinstance(node, ast.Attribute):
        return node.attr == word
    if isinstance(node, ast.Subscript):
        return _text(node.slice) == word
    return isinstance(node, ast.Call) and _name(node) == "get" and bool(node.args) and _text(node.args[0]) == word


def _is_wording(node: ast.AST) -> bool:
    """Is it a message, or a reply turned into text, or a step further from one?"""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEXT_STEPS:
        return _is_wording(node.func.value)
    if isinstance(node, ast.Call) and _name(node) in ("str", "repr") and len(node.args) == 1:
        return "reply" in _name(node.args[0]).lower() or _is_wording(node.args[0])
    return _reads(node, "message")


def _type_of(node: ast.AST) -> str:
    """The reply type that an expression makes, or nothing."""
    if not isinstance(node, ast.Call):
        return ""
    made = _name(node)
    if made in CODED_TYPES:
        return CODED_TYPES[made]
    if made == "reply" and node.args:
        entry = REGISTERED.get(_name(node.args[0]))
        return entry.type if entry else ""
    return ""


def _uses(tree: ast.Module) -> Iterator[Use]:
    modules, single = _code_names(tree)
    compared = {id(part) for node in ast.walk(tree) for part in _compared_parts(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield Use(node.attr, node.lineno, id(node) not in compared)
        elif isinstance(node, ast.Name) and node.id in single and isinstance(node.ctx, ast.Load):
            yield Use(single[node.id], node.lineno, id(node) not in compared)


def _compared_parts(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for operand in (node.left, *node.comparators):
            yield from (
                operand,
                *(operand.elts if isinstance(operand, ast.Tuple | ast.Set | ast.List) else ()),
            )
    elif isinstance(node, ast.MatchValue):
        yield node.value


def _code_names(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    modules: set[str] = set()
    single: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        home = node.module or ""
        for alias in node.names:
            if alias.name == "codes" and (node.level or home in ("engross", "engross.replies")):
                modules.add(alias.asname or alias.name)
            elif home == "engross.replies.codes" or (node.level and home == "codes"):
                single[alias.asname or alias.name] = alias.name
    return modules, single


# --- the rules


def no_branch_on_wording(source: Source) -> Iterator[Finding]:
    """L1"""
    if source.lies_in(RENDERERS):
        return
    for node in ast.walk(source.tree):
        if _branches_on_wording(node):
            yield Finding(source.path, _line(node), "L1", "branches on a message; use the type or the code")


def _branches_on_wording(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(_is_wording(operand) for operand in (node.left, *node.comparators))
    if isinstance(node, ast.Match):
        return _is_wording(node.subject)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return _is_wording(node.test)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if node.func.attr in TEXT_TESTS:
        return _is_wording(node.func.value)
    return node.func.attr in PATTERN_TESTS and any(_is_wording(argument) for argument in node.args)


def no_literal_codes(source: Source) -> Iterator[Finding]:
    """L2"""
    if source.lies_in(LITERALS):
        return
    for node in ast.walk(source.tree):
        text = _text(node)
        if text is not None and CODE.fullmatch(text):
            yield Finding(source.path, _line(node), "L2", f"writes {text} out; use codes")


def one_constructor(source: Source) -> Iterator[Finding]:
    """L3"""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and not source.lies_in(CONSTRUCTOR) and _builds_reply(node):
            yield Finding(source.path, _line(node), "L3", "builds a Reply; only reply() does")
        if not source.lies_in(ENVELOPES) and _spells_envelope(node):
            yield Finding(source.path, _line(node), "L3", "spells out an envelope; use engross.replies.envelopes")


def _builds_reply(node: ast.Call) -> bool:
    if _name(node) == "__new__":
        return any(_name(argument) == "Reply" for argument in node.args)
    return _name(node) == "Reply"


def _spells_envelope(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        # A schema of the envelope has an object where the envelope has its letter.
        pairs = zip(node.keys, node.values, strict=True)
        return any(_text(key) == "reply_type" and not isinstance(value, ast.Dict) for key, value in pairs)
    return isinstance(node, ast.Call) and _name(node) == "dict" and "reply_type" in {kw.arg for kw in node.keywords}


def tools_are_safe(source: Source) -> Iterator[Finding]:
    """L4"""
    functions = {node.name: node for node in ast.walk(source.tree) if isinstance(node, _FUNCTIONS)}
    for function in functions.values():
        yield from _unsafe_tool(source, function)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and _name(node) == "add_tool" and node.args:
            given = None if isinstance(node.args[0], ast.Call) else functions.get(_name(node.args[0]))
            if given is not None and not _is_safe(given):
                what = f"registers {given.name} without mcp_safe_tool"
                yield Finding(source.path, _line(node), "L4", what)


def _unsafe_tool(source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
    named = [_name(decorator) for decorator in function.decorator_list]
    safe = _is_safe(function)
    if "tool" in named and (not safe or named.index("tool") > named.index("mcp_safe_tool")):
        what = f"registers {function.name} without mcp_safe_tool right under the registration"
        yield Finding(source.path, function.lineno, "L4", what)
    if ("tool" in named or safe) and _annotated(function.returns) != "Reply" and not _is_migrating(function):
        yield Finding(source.path, function.lineno, "L4", f"{function.name} is a tool and must return Reply")


def _is_safe(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return "mcp_safe_tool" in {_name(decorator) for decorator in function.decorator_list}


def _is_migrating(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        keyword.arg == "strict" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and _name(decorator) == "mcp_safe_tool"
        for keyword in decorator.keywords
    )


def _annotated(node: ast.AST | None) -> str:
    return _text(node) or _name(node)


def broad_handlers_stay_errors(source: Source) -> Iterator[Finding]:
    """L5"""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            for left in _leaving(node.body):
                kind = _type_of(left)
                if kind in ("S", "I", "D"):
                    what = f"turns every exception into {TYPES[kind]}; catch the one that means it"
                    yield Finding(source.path, _line(left), "L5", what)


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(part) for part in caught.elts)
    return caught is None or _name(caught) in BROAD


def _leaving(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """What the statements return or raise, nested functions aside."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif isinstance(node, ast.Raise) and node.exc is not None:
            yield node.exc
        elif not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


def no_transport_errors_inside(source: Source) -> Iterator[Finding]:
    """L6"""
    if source.lies_in(TRANSPORTS):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Raise) and TRANSPORT_ERROR.fullmatch(_name(node.exc)):
            what = f"raises {_name(node.exc)}; raise Invalid, Denied or Failed and let the surface translate"
            yield Finding(source.path, _line(node), "L6", what)


def own_layer_only(source: Source) -> Iterator[Finding]:
    """L7"""
    allowed = next((layers for place, layers in LAYERS if fnmatch(source.place, place)), None)
    if allowed is None:
        return
    for use in source.uses:
        entry = REGISTERED.get(use.key)
        if entry is None or not use.said or entry.code.startswith(EVERYWHERE):
            continue
        if entry.layer not in allowed and use.key not in allowed:
            speaks = ", ".join(sorted(allowed))
            yield Finding(
                source.path, use.line, "L7", f"says {use.key} of layer {entry.layer}, but speaks for {speaks}"
            )


def nothing_dropped(source: Source) -> Iterator[Finding]:
    """L8"""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value) in MAKERS:
            what = f"makes {_name(node.value)}(...) and drops it; return or raise it"
            yield Finding(source.path, _line(node), "L8", what)


def four_types_only(source: Source) -> Iterator[Finding]:
    """L9"""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_builder_call(node.func):
            yield Finding(source.path, _line(node), "L9", f"calls {node.func.attr} on a builder; there is only reply()")
        strange = {letter for text in _compared_types(node) for letter in text} - set(TYPES)
        if strange:
            yield Finding(source.path, _line(node), "L9", f"knows a reply type {', '.join(sorted(strange))}")


def _is_builder_call(called: ast.Attribute) -> bool:
    return called.attr in STATEFUL and _name(called.value).lower() in BUILDERS


def _compared_types(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        if any(_reads(operand, "reply_type") for operand in operands):
            yield from _texts(operands)
    elif isinstance(node, ast.Match) and _reads(node.subject, "reply_type"):
        yield from _texts(part for case in node.cases for part in ast.walk(case.pattern))


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield from _texts(node.elts)
        elif (text := _text(node)) is not None:
            yield text


def codes_are_registered(source: Source) -> Iterator[Finding]:
    """C10"""
    for use in source.uses:
        entry = REGISTERED.get(use.key)
        if entry is None:
            yield Finding(source.path, use.line, "C10", f"uses {use.key}, which is not registered")
        elif entry.status == "retired":
            yield Finding(source.path, use.line, "C10", f"uses {use.key}, which is retired")


def used_or_reserved(sources: Iterable[Source]) -> Iterator[Finding]:
    """C9: the registry's own statuses against what the source says."""
    said = {use.key for source in sources for use in source.uses if use.said}
    for entry in REGISTERED.values():
        if entry.status == "active" and entry.key not in said:
            yield _in_registry(entry, "is active, but nothing says it")
        elif entry.status == "reserved" and entry.key in said:
            yield _in_registry(entry, "is reserved, but in use")


def _in_registry(entry: Entry, what: str) -> Finding:
    line = REGISTRY_FILE.read_text("utf-8").splitlines().index(f"[{entry.code}]") + 1
    return Finding(relpath(REGISTRY_FILE), line, "C9", f"{entry.key} {what}")


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 1))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RULES: tuple[Callable[[Source], Iterator[Finding]], ...] = (
    no_branch_on_wording,
    no_literal_codes,
    one_constructor,
    tools_are_safe,
    broad_handlers_stay_errors,
    no_transport_errors_inside,
    own_layer_only,
    nothing_dropped,
    four_types_only,
    codes_are_registered,
)
REGISTERED = {entry.key: entry for entry in read_entries()}


def look_at(text: str, path: str) -> list[Finding]:
    """What is wrong with one file."""
    source = Source.of(text, path)
    return [finding for rule in RULES for finding in rule(source) if not source.excuses(finding)]


def look_through(root: Path) -> list[Finding]:
    """What is wrong with everything under a folder, and with the registry in the light of it."""
    texts = {str(path): path.read_text("utf-8") for path in sorted(root.rglob("*.py"))}
    alone = [finding for path, text in texts.items() for finding in look_at(text, path)]
    return alone + list(used_or_reserved(Source.of(text, path) for path, text in texts.items()))


def flip(root: Path) -> None:
    """Set the status of every living code to what the source says."""
    sources = [Source.of(path.read_text("utf-8"), str(path)) for path in sorted(root.rglob("*.py"))]
    said = {use.key for source in sources for use in source.uses if use.said}
    text = REGISTRY_FILE.read_text("utf-8")
    for entry in REGISTERED.values():
        if entry.status != "retired":
            status = "active" if entry.key in said else "reserved"
            table = re.compile(rf'(^\[{entry.code}\]\n(?:.+\n)*?status = )"\w+"', re.MULTILINE)
            text = table.sub(rf'\g<1>"{status}"', text)
    REGISTRY_FILE.write_text(text, "utf-8")


def regenerate() -> None:
    """Write what follows from the registry."""
    subprocess.run([sys.executable, "-m", "engross.replies.generate"], check=True)


def main(arguments: list[str]) -> int:
    """Lint the folders given; 1 when anything was found."""
    roots = [Path(argument) for argument in arguments if not argument.startswith("--")]
    if "--flip" in arguments:
        for root in roots:
            flip(root)
        regenerate()
        return 0
    found = [finding for root in roots for finding in look_through(root)]
    for finding in found:
        print(finding)
    return 1 if found or not roots else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
