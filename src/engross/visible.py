"""Text of others on a person's terminal.

What an agent wrote, or a stranger asked for, may hold escape sequences that move the cursor, or characters that turn
the direction of writing: whoever reads an answer or a log would then see something else than what is there. They are
shown as what they are instead of being obeyed.
"""

from __future__ import annotations

import re

# Control characters but line feed and tab, what turns the direction of writing, and what takes no room at all.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e01ef]"
)


def visible(text: str) -> str:
    """The text with everything shown that a terminal would obey or hide."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
