"""What was written differently from how it came: one receipt for each change of spelling."""

from __future__ import annotations

from typing import Final, NamedTuple

# kind: (correction code, what happened, does the text still say the same to every reader)
KINDS: Final[dict[str, tuple[str | None, str, bool]]] = {
    "single_colon": ("W001", "a single colon became an assignment", True),
    "operator": ("W002", "an ASCII operator became its Unicode form", True),
    "indentation": ("W003", "indentation became two blanks for each level", True),
    "envelope": ("W004", "a missing envelope line was added", True),
    "trailing_blanks": ("W005", "blanks at the end of a line were removed", True),
    "bom": (None, "the byte order mark was removed", True),
    "newlines": (None, "line ends became LF", True),
    "nfc": (None, "characters were composed (NFC)", True),
    "unwrapped": (None, "the code fence around the whole document was removed", True),
    "frontmatter": (None, "an empty frontmatter was removed", True),
    "gap": (None, "a blank line was set where one belongs", True),
    "sentinel": (None, "the version line was moved to the top", True),
    "separator": (None, "a separator that separates nothing was removed", True),
    "blank_lines": (None, "blank lines were removed", True),
    "spacing": (None, "blanks around a mark were removed", True),
    "comment": (None, "a comment was set in its canonical place or form", True),
    "quotes": (None, "quotes that are not needed were removed", True),
    "spelling": (None, "a value was written in its canonical form", True),
    "layout": (None, "a list was set in its canonical layout", True),
    "words": (None, "bare words became one text", True),
    "annotated_words": (None, "bare words with an annotation became a list", False),
    "items": (None, "what stood without a comma became separate items", False),
    "constructor": (None, "a constructor became an annotation", True),
    "kept_text": (None, "what fits no form of a value was kept as text", False),
    "flow": (None, "an arrow behind a key became an assignment", True),
    "target": (None, "the mark of a target was added", True),
    "duplicate": (None, "a key of META that comes again replaced the earlier one", False),
    "curly_braces": (None, "curly braces became an annotation", True),
    "timestamp": (None, "a bare timestamp was quoted", True),
}
REPAIRS: Final = frozenset({"single_colon", "curly_braces", "timestamp"})


class Receipt(NamedTuple):
    """One normalisation: what stood where, and what stands there now."""

    kind: str
    line: int
    column: int
    before: str
    after: str

    @property
    def code(self) -> str | None:
        """W001 to W005, for the kinds that have one."""
        return KINDS[self.kind][0]

    @property
    def tier(self) -> str:
        """NORMALIZATION always happens; REPAIR only when it was asked for."""
        return "REPAIR" if self.kind in REPAIRS else "NORMALIZATION"

    @property
    def safe(self) -> bool:
        """Whether the text still says the same to every reader."""
        return KINDS[self.kind][2]

    def as_data(self) -> dict[str, object]:
        """The receipt as an entry of an answer's `corrections`."""
        code, message, safe = KINDS[self.kind]
        return {
            "code": code,
            "kind": self.kind,
            "tier": self.tier,
            "message": message,
            "line": self.line,
            "column": self.column,
            "before": self.before,
            "after": self.after,
            "safe": safe,
            "semantics_changed": False,
        }
