"""Pictures and scans: the words in them, if Tesseract is installed to read them."""

from __future__ import annotations

from .program import run
from .result import Note
from .script import Script

SECONDS = 60.0
LONGEST = 200_000

NO_READER = Note(
    "OCR_UNAVAILABLE",
    "Tesseract is not installed, so the words in the picture were not read; install it and call reinterpret.",
)
_FAILED = Note("OCR_FAILED", "Tesseract could not read the picture; only its bytes were kept.")
_SLOW = Note("OCR_FAILED", "Reading the picture took too long; only its bytes were kept.")
_CUT = Note("TEXT_CUT", f"Of the words in the picture, the first {LONGEST} characters were taken.")
_NO_WORDS = Note("NO_TEXT", "There are no words in the picture.")


def read_picture(content: bytes, program: str | None) -> tuple[Script, list[Note]]:
    """The words in a picture."""
    found = located(program)
    if found is None:
        return Script(""), [NO_READER]
    outcome = run([found, "stdin", "stdout"], content, SECONDS)
    if outcome.output is None:
        return Script(""), [_SLOW if outcome.problem == "slow" else _FAILED]
    text = outcome.output.decode("utf-8", "replace").replace("\x00", "").strip()
    notes = [_CUT] if len(text) > LONGEST else [] if text else [_NO_WORDS]
    return Script(text[:LONGEST]), notes


def located(program: str | None) -> str | None:
    """Where the program that reads pictures is, if it is installed."""
    if program is None:
        return None
    from shutil import which

    return which(program)
