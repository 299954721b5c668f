"""Write into requirements.toml which tests prove which promise, as the marks in tests/ say.

python tools/bind_requirements.py                      refresh every row's tests
python tools/bind_requirements.py --done REP-01 REP-02  and call these rows done
python tools/bind_requirements.py --planned REP-01      or planned again
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADING = """\
# What must be true. An id is never reused; rows may be added.
# status: planned, or done once tests prove it. tests: those that carry the mark (tools/bind_requirements.py).
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One promise of the product."""

    id: str
    promise: str
    seed: str
    status: str
    tests: list[str] = field(default_factory=list)


def read_rows(root: Path = ROOT) -> list[Row]:
    """The rows of requirements.toml."""
    with (root / "requirements.toml").open("rb") as file:
        return [Row(**row) for row in tomllib.load(file)["requirement"]]


def write_rows(rows: list[Row], root: Path = ROOT) -> None:
    """Write requirements.toml anew."""
    (root / "requirements.toml").write_text(HEADING + "".join(map(_row_as_toml, rows)), encoding="utf-8")


def _row_as_toml(row: Row) -> str:
    # JSON's strings are TOML's basic strings.
    lines = [
        f"{name} = {json.dumps(getattr(row, name), ensure_ascii=False)}" for name in ("id", "promise", "seed", "status")
    ]
    tests = "".join(f"    {json.dumps(test)},\n" for test in row.tests)
    lines.append(f"tests = [\n{tests}]" if tests else "tests = []")
    return "\n[[requirement]]\n" + "\n".join(lines) + "\n"


def marked_tests(root: Path = ROOT) -> dict[str, list[str]]:
    """For each requirement id named by a mark in tests/: the tests that carry it, as `file::test`."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        for test, ids in _tests_of(tree.body, path.relative_to(root).as_posix(), _module_marks(tree)):
            for row_id in ids:
                found.setdefault(row_id, []).append(test)
    return found


def _tests_of(body: list[ast.stmt], prefix: str, inherited: list[str]) -> Iterator[tuple[str, list[str]]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield f"{prefix}::{node.name}", _unique([*inherited, *_marks(node.decorator_list)])
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _tests_of(node.body, f"{prefix}::{node.name}", [*inherited, *_marks(node.decorator_list)])


def _module_marks(tree: ast.Module) -> list[str]:
    assigned = [node.value for node in tree.body if isinstance(node, ast.Assign) and _names_pytestmark(node)]
    return [row_id for value in assigned for row_id in _marks(list(ast.walk(value)))]


def _names_pytestmark(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def _marks(nodes: list[ast.expr] | list[ast.AST]) -> list[str]:
    return [
        argument.value
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement"
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def _unique(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(ids))


def bind(rows: list[Row], marked: dict[str, list[str]], done: set[str], planned: set[str]) -> list[Row]:
    """The rows with the tests that the marks name, and with the statuses asked for."""
    known = {row.id for row in rows}
    for row_id in sorted((done | planned | marked.keys()) - known):
        raise SystemExit(f"{row_id} is not in requirements.toml; named by: {marked.get(row_id, 'the command line')}")
    statuses = dict.fromkeys(planned, "planned") | dict.fromkeys(done, "done")
    bound = [replace(row, tests=marked.get(row.id, []), status=statuses.get(row.id, row.status)) for row in rows]
    for row in bound:
        if row.status == "done" and not row.tests:
            raise SystemExit(f"{row.id} cannot be done: no test carries its mark")
    return bound


def main(argv: list[str]) -> int:
    """Rewrite requirements.toml."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--done", nargs="+", default=[], metavar="ID")
    parser.add_argument("--planned", nargs="+", default=[], metavar="ID")
    options = parser.parse_args(argv)
    rows = bind(read_rows(), marked_tests(), set(options.done), set(options.planned))
    write_rows(rows)
    print(f"{sum(row.status == 'done' for row in rows)} of {len(rows)} promises are done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
