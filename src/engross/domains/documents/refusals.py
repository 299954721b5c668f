"""What cannot be done, in the words of the documents dialect: five codes, with the finer one beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from engross.replies import Coded, Failed, Invalid, Issue, codes

if TYPE_CHECKING:
    from engross.octave import OctaveError

OF_TEXTS = (codes.E_INPUT, codes.E_PARSE, codes.E_FIDELITY)
"""What a text is refused with, whoever reads it."""
OF_PLACES = (codes.E_PATH, codes.E_INPUT, codes.RECORD_NOT_FOUND)
"""What whoever looks for a document, or for a version of it, is refused with."""
OF_WRITES = (codes.E_PATH, *OF_TEXTS, codes.E_HASH, codes.E_WRITE)

ABOUT_THE_REQUEST = frozenset(
    {
        *("E_INPUT", "E_TOO_LARGE", "E_SCHEMA", "E_UNRESOLVABLE_PATH"),
        *("E_OP_TARGET_MISMATCH", "E_INVALID_OP_DESCRIPTOR"),
    }
)
"""Codes of the language that are about what was asked for, not about a text."""
UNFAITHFUL = "E_FIDELITY"
LONGEST_PATH_TOLD = 200


def bad_path(path: str, problem: str, spec_code: str | None = None, **suggestions: Any) -> Invalid:
    """The path leads nowhere that a document may lie."""
    told = path.encode("utf-8", "replace").decode()[:LONGEST_PATH_TOLD]
    details = {} if spec_code is None else {"spec_code": spec_code}
    issue = Issue(codes.E_PATH, {"path": told, "problem": problem}, "/target_path", details, suggestions or None)
    return Invalid(codes.E_PATH, issue.params, issues=[issue], data={"details": {}})


def bad_input(problem: str, field: str | None = None, spec_code: str | None = None, **data: Any) -> Invalid:
    """The request cannot be carried out, whatever the document says."""
    details = {} if spec_code is None else {"spec_code": spec_code}
    issue = Issue(codes.E_INPUT, {"problem": problem}, f"/{field}" if field else "", details)
    return Invalid(codes.E_INPUT, issue.params, issues=[issue], data={"details": {}, **data})


def moved_on(kind: type[Invalid], current_hash: str | None, base_hash: str | None, diff: str, path: str) -> Invalid:
    """The document is another one by now."""
    told: dict[str, Any] = {"details": {}, "path": path, "current_hash": current_hash, "base_hash": base_hash}
    return kind(codes.E_HASH, field="base_hash", data={**told, "diff": diff})


def not_written() -> Failed:
    """The disk refuses the file."""
    return Failed(codes.E_WRITE)


def octave_refusal(error: OctaveError, field: str, **data: Any) -> Coded:
    """What the language refused, with all its errors."""
    if error.code == UNFAITHFUL:
        return Failed(codes.E_FIDELITY, data={"spec_code": UNFAITHFUL})
    issues = [_issue(one, field) for one in (error, *error.others)]
    counted = {"errors_in_all": error.count} if error.count > len(issues) else {}
    code = issues[0].code
    return Invalid(code, issues[0].params, issues=issues, data={"details": {}, **counted, **data})


def refuse_octave(error: OctaveError, field: str, **data: Any) -> NoReturn:
    """Raise what the language refused."""
    raise octave_refusal(error, field, **data) from None


def broken_schema(violations: Iterable[Mapping[str, Any]], count: int, path: str) -> Invalid:
    """What a schema does not allow, where the operator wants no such document written."""
    issues = [
        Issue(
            codes.E_INPUT,
            {"problem": f"{found['field']} {found['message']}"},
            "/content",
            {"spec_code": found["code"], "line": found["line"]},
        )
        for found in violations
    ]
    counted = {"errors_in_all": count} if count > len(issues) else {}
    return Invalid(codes.E_INPUT, issues[0].params, issues=issues, data={"details": {}, "path": path, **counted})


def told_error(error: OctaveError) -> dict[str, Any]:
    """An error of a text as an entry of the answer of a check."""
    return {**error.as_data(), "code": _tool_key(error), "spec_code": error.code}


def _tool_key(error: OctaveError) -> str:
    return "E_INPUT" if error.code in ABOUT_THE_REQUEST else "E_PARSE"


def _issue(error: OctaveError, field: str) -> Issue:
    place = "" if error.line is None else f" (line {error.line}, column {error.column})"
    details: dict[str, Any] = {"spec_code": error.code}
    if error.line is not None:
        details |= {"line": error.line, "column": error.column}
    if error.hint is not None:
        details["hint"] = error.hint
    code = codes.E_INPUT if error.code in ABOUT_THE_REQUEST else codes.E_PARSE
    return Issue(code, {"problem": f"{error.message}{place}"}, f"/{field}", details)
