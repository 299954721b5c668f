"""Lines that are understood at a glance.

`PLAIN` matches a line that stands as the emitter would write it: a key with a value of one lexeme, a flat list or a
pattern, the head of a block, of a section or of a literal zone, a comment. `NEARLY_PLAIN` matches what authors write
most: the same with aliases of operators, blanks around marks, bare words, constructors, or a list in another layout.

Every repetition is possessive. A match never goes back over what it has seen, so its time is bounded by its length.
"""

from __future__ import annotations

import re
from typing import Final

from .spelling import (
    BARE,
    BARE_CONSTRAINTS,
    CONSTRAINTS_WITH_ARGUMENTS,
    EXPRESSION,
    OPERATORS,
    OR,
    VARIABLE,
    WORD,
)

# The groups of a plain line; the last one matched tells what it is.
INDENT: Final = 1
KEY: Final = 2
VALUE: Final = 3
NOTED: Final = 4
LIST: Final = 5
ZONE_HEAD: Final = 6
BLOCK_HEAD: Final = 7
SECTION_ID: Final = 8
SECTION_HEAD: Final = 9
COMMENT: Final = 10
# The groups of a nearly plain one.
LOOSE_LIST: Final = 4
WORDS: Final = 5

_END: Final = r"(?:\n|\Z)"
_NOT_A_WORD: Final = "true|false|null"
_KEY: Final = (
    rf"(?!(?:{_NOT_A_WORD}|vs)[ :]|(?:META|PATTERN|REGEX)::)[A-Za-z_][A-Za-z0-9_./]*+(?:-++[A-Za-z0-9_./]++)*+"
)
_NAME: Final = rf"(?!(?:{_NOT_A_WORD})(?![A-Za-z0-9_.-])){WORD}"
_PAIR_KEY: Final = rf"(?!(?:{_NOT_A_WORD}|PATTERN|REGEX)::){WORD}"
_NUMBER: Final = r"-?[0-9]{1,15}+(?:\.[0-9]{1,15}+)?+"
_CONSTANT: Final = rf"(?:{_NOT_A_WORD})(?![A-Za-z0-9_.<{OPERATORS}-])"
# Not what might do without its quotes; a closer look decides about that.
_QUOTED: Final = rf'"(?![A-Za-z_$][A-Za-z0-9_.\-<>,:{OPERATORS}]*+")(?:[^"\\\n]++|\\[\\"ntr])*+"'
_LEXEME: Final = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_VALUE: Final = rf"(?:{BARE}|{_CONSTANT}|{_QUOTED}|{_NUMBER})"

# With ∧ an item might be a pattern; annotated, it would need a line of its own.
_ITEM: Final = rf"(?:(?!{_NOT_A_WORD}){WORD}{EXPRESSION.replace('∧', '')}*+|{_CONSTANT}|{_QUOTED}|{_NUMBER}|{VARIABLE})"
_SHORT_LIST: Final = rf"\[(?:{_ITEM}(?:,{_ITEM})?+)?+\]"
_NEXT: Final = r"\n\1  "
_ANY: Final = rf"(?:(?:{_PAIR_KEY}::)?+(?:{_SHORT_LIST}|{_VALUE}))"
# One or two items have lines of their own only if one of them is wide; that is for the caller to see.
_LONG_LIST: Final = rf"\[{_NEXT}{_ANY}(?:,{_NEXT}{_ANY})*+\n\1\]"

_ARGUMENT: Final = rf"(?:{WORD}|{_NUMBER}|{_LEXEME})"
_CONSTRAINT: Final = (
    rf"(?:∧(?:(?:{'|'.join(sorted(BARE_CONSTRAINTS))})(?![A-Za-z0-9_.\[-])"
    rf"|(?:{'|'.join(sorted(CONSTRAINTS_WITH_ARGUMENTS))})\[{_ARGUMENT}(?:,{_ARGUMENT})*+\]))"
)
_TARGET: Final = rf"(?:→§{WORD}(?:{OR}§{WORD})*+)"
_PATTERN: Final = rf"\[(?:{WORD}|{_LEXEME}|{_NUMBER})(?:{_CONSTRAINT}++{_TARGET}?+|{_TARGET})\]"
_COMMENT: Final = r"// (?! )([^\n]*+)(?<! )"

WIDE_ITEM: Final = re.compile(rf"\n *+(?:{WORD}::|\[)")
PLAIN: Final = re.compile(
    rf"( *+)(?:({_KEY}):(?::(?:({_VALUE}|{_PATTERN})(?: {_COMMENT})?+|({_SHORT_LIST}|{_LONG_LIST})|())|())"
    rf"|§([0-9]++[a-z]?+|{_NAME})::({_NAME})|{_COMMENT}){_END}"
)

_MARK: Final = rf"(?: *+(?:<->|->|[→⊕⧺~@⇌{OR}|+]) *+| ++vs ++)"
_CONSTRUCTOR: Final = rf"{WORD}\[{WORD}(?:,{WORD})*+\]"
_LOOSE: Final = (
    rf"(?:(?!{_NOT_A_WORD})(?:{_CONSTRUCTOR}|{WORD}(?:{_MARK}{WORD})*+)|{_CONSTANT}|{_LEXEME}|{_NUMBER}|{VARIABLE})"
)
_GAP: Final = r"[ \n]*+"
_ENTRY: Final = rf"(?:{_PAIR_KEY}::)?+{_LOOSE}{_GAP}"
_LOOSE_LIST: Final = rf"\[{_GAP}(?:{_ENTRY}(?:,{_GAP}{_ENTRY})*+(?:,{_GAP})?+)?+\]"
_WORDS: Final = rf"(?!{_NOT_A_WORD}){WORD}(?: ++(?:{WORD}|{_NUMBER}(?= |\n|\Z)))++"

NEARLY_PLAIN: Final = re.compile(rf"( *+)({_KEY})::(?:({_LOOSE}(?=\n|\Z))|({_LOOSE_LIST})|({_WORDS})){_END}")
LOOSE_ITEM: Final = re.compile(rf"(?:({_PAIR_KEY})::)?+({_LOOSE})")
MARKS: Final = re.compile(_MARK)
