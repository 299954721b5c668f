"""Reads a PDF in a process of its own: bytes in, JSON out. Run by its path, it imports nothing of ours.

A PDF can ask for any amount of memory and time. This process has a little of both, and nothing to lose.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from typing import Any

MOST_PICTURES = 20
MOST_PICTURE_BYTES = 30_000_000
JPEG = "/DCTDecode"


def limit(seconds: int, megabytes: int) -> None:
    """Have the system end this process when it takes more."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read(content: bytes, most_pages: int, most_characters: int) -> dict[str, Any]:
    """The pages of a PDF as texts, or, where there is none in them, as the photographs that they are."""
    import io
    import logging

    logging.disable(logging.CRITICAL)
    from pypdf import PdfReader

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"problem": "encrypted"}
        count = len(reader.pages)
        pages = [reader.pages[number] for number in range(min(count, most_pages))]
    except Exception:
        # Whatever a damaged file does to the library: it could not be read.
        return {"problem": "unreadable"}
    texts, broken, cut = _texts(pages, most_characters)
    pictures: list[str] = []
    if not any(text.strip() for text in texts):
        pictures, cut = _pictures(pages)
    return {"pages": texts, "count": count, "broken": broken, "cut": cut, "pictures": pictures}


def _texts(pages: list[Any], most_characters: int) -> tuple[list[str], int, bool]:
    """The texts, how many pages had none that could be read, and whether a page was cut."""
    texts: list[str] = []
    broken = 0
    cut = False
    for page in pages:
        try:
            text = page.extract_text()
        except Exception:
            text, broken = "", broken + 1
        text = text.replace("\x00", "").encode("utf-8", "replace").decode()
        cut = len(text) > most_characters
        text = text[:most_characters]
        texts.append(text)
        most_characters -= len(text)
        if most_characters <= 0:
            break
    return texts, broken, cut


def _pictures(pages: list[Any]) -> tuple[list[str], bool]:
    """Scans are mostly photographs, whose bytes are files as they stand; and whether there are more of them."""
    left = MOST_PICTURE_BYTES
    found: list[str] = []
    for page in pages:
        for picture in _photographs(page):
            left -= len(picture)
            if left < 0 or len(found) == MOST_PICTURES:
                return found, True
            found.append(b64encode(picture).decode())
    return found, False


def _photographs(page: Any) -> list[bytes]:
    try:
        objects = [one.get_object() for one in page["/Resources"]["/XObject"].values()]
        return [bytes(one._data) for one in objects if one.get("/Filter") in (JPEG, [JPEG])]
    except Exception:
        return []


def main() -> None:
    """Read standard input, write standard output."""
    seconds, megabytes, most_pages, most_characters = map(int, sys.argv[1:5])
    limit(seconds, megabytes)
    json.dump(read(sys.stdin.buffer.read(), most_pages, most_characters), sys.stdout)


if __name__ == "__main__":
    main()
