"""A text, validated: what the tools answer with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from typing import Literal as Choice

from .advice import advice
from .document import Document
from .error import OctaveError
from .parser import parse
from .receipt import Receipt
from .repair import Repair, repair, repaired_text, suggest, text_repairs
from .sameness import faithful
from .schema import Schema
from .shelf import SHIPPED, Shelf
from .validation import Route, Violation, check

Status = Choice["VALIDATED", "UNVALIDATED", "PENDING_INFRASTRUCTURE"]
MOST_ROUNDS: Final = 5


@dataclass(slots=True)
class Verdict:
    """What became of a validation.

    `canonical` is empty when the text cannot be read. The status is that of the text returned, repairs included:
    VALIDATED only when something was held against the schema and passed.
    """

    validation_status: Status = "UNVALIDATED"
    canonical: str = ""
    document: Document | None = None
    errors: list[OctaveError] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    warnings: list[Violation] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    error_count: int = 0

    @property
    def status(self) -> Choice["success", "error"]:
        """`error` when something is wrong with the text or against the schema."""
        return "error" if self.errors or self.violations else "success"

    def as_data(self) -> dict[str, object]:
        """The answer of `octave_validate`."""
        told = [error.as_data() for error in self.errors] + [found.as_data() for found in self.violations]
        return {
            "status": self.status,
            "canonical": self.canonical,
            "repairs": [one.as_data() for one in self.repairs]
            + [{**receipt.as_data(), "applied": True} for receipt in self.receipts],
            "warnings": [found.as_data() for found in self.warnings],
            "errors": told,
            "validation_status": self.validation_status,
        }


def validate(
    content: str | bytes | Document,
    schema: str | Schema | None,
    fix: bool = False,
    shelf: Shelf = SHIPPED,
    source: str | None = None,
) -> Verdict:
    """Hold a text against a schema, given by name or as such. With `fix`, repairs are made; else they are suggested.

    `source` is the text that a document was read from, if it is still as it was read.
    """
    verdict = Verdict()
    source = content if isinstance(content, str) else source
    document = content if isinstance(content, Document) else _read(content, fix, verdict)
    if document is None:
        return verdict
    verdict.warnings = advice(document)
    wanted = shelf.get(schema) if isinstance(schema, str) else schema
    if wanted is None:
        if schema is not None:
            verdict.validation_status = "PENDING_INFRASTRUCTURE"
            message = f"there is no schema {schema}; there are {', '.join(shelf.names())}"
            verdict.warnings.append(Violation("W_SCHEMA_MISSING", "SCHEMA_MISSING", message, ""))
    elif fix:
        document, mended = repair(document, wanted)
        verdict.repairs += mended
        source = None if mended else source
    else:
        verdict.repairs += suggest(document, wanted)
    verdict.document = document
    verdict.receipts = document.receipts
    # A text that was mended on being read is another one by now, and differs from its canonical form.
    verdict.canonical = faithful(document, source)
    if wanted is not None:
        _judge(document, wanted, verdict)
    return verdict


def _read(content: str | bytes, fix: bool, verdict: Verdict) -> Document | None:
    """Read a text; with `fix`, as often as repairs make a difference."""
    done: list[Repair] = []
    for _ in range(MOST_ROUNDS):
        try:
            document = parse(content, lenient=True)
        except OctaveError as error:
            failure = error
        else:
            verdict.repairs += done
            return document
        if not fix:
            break
        text = content if isinstance(content, str) else content.decode(errors="replace")
        content, made = repaired_text(text, failure)
        done += made
        if not made:
            break
    verdict.errors = [failure, *failure.others]
    verdict.error_count = failure.count
    verdict.repairs += [one._replace(applied=False) for one in done] + text_repairs(failure)
    return None


def _judge(document: Document, schema: Schema, verdict: Verdict) -> None:
    found = check(document, schema)
    verdict.violations = found.violations
    verdict.error_count = found.violation_count
    verdict.warnings += found.warnings
    verdict.routes = found.routes
    if not found.instances:
        message = f"nothing in the document is of the kind {schema.name}"
        verdict.warnings.append(Violation("W_NOTHING_TO_VALIDATE", "NOTHING_TO_VALIDATE", message, ""))
    elif not found.violations:
        verdict.validation_status = "VALIDATED"
