"""Write the generated pages anew and check that every relative link in the documentation leads somewhere.

python tools/docs.py           write and check
python tools/docs.py --check   write nothing; name what is stale or broken
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from engross.replies import generate as replies

ROOT = Path(__file__).resolve().parent.parent


def _actions() -> Mapping[Path, str]:
    # A script finds its own folder, not the one that the folder is in.
    sys.path.append(str(ROOT))
    from tools.actions import outputs

    return outputs()


# Each returns the files it generates with the text that they should have. Add a line to add a page.
GENERATORS: list[Callable[[], Mapping[Path, str]]] = [
    replies.outputs,
    _actions,
]

_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*<?(\S+?)>?\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def stale_pages() -> dict[Path, str]:
    """Generated files that do not say what they should, with the text that is due."""
    due = {path: text for generate in GENERATORS for path, text in generate().items()}
    return {path: text for path, text in due.items() if not path.exists() or path.read_text("utf-8") != text}


def pages(root: Path = ROOT) -> list[Path]:
    """Every page a reader may open."""
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def broken_links(root: Path = ROOT) -> list[str]:
    """Relative links that lead nowhere, each as `page: link`."""
    return [f"{page.relative_to(root)}: {link}" for page in pages(root) for link in _broken_in(page)]


def _broken_in(page: Path) -> Iterator[str]:
    for link in _links(page.read_text("utf-8")):
        path, _, anchor = link.partition("#")
        target = (page.parent / unquote(path)) if path else page
        missing = not target.exists()
        if missing or (anchor and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8"))):
            yield link


def _links(text: str) -> Iterator[str]:
    for match in _LINK.finditer(_CODE_SPAN.sub("", _FENCE.sub("", text))):
        link = match[1] or match[2]
        if not _ELSEWHERE.match(link):
            yield link


def anchors(text: str) -> set[str]:
    """The names by which a page's headings can be linked to."""
    found: dict[str, int] = {}
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {name if turn == 0 else f"{name}-{turn}" for name, last in found.items() for turn in range(last + 1)}


def main(arguments: list[str]) -> int:
    """Write or name what is stale; name broken links."""
    checking = "--check" in arguments
    due = stale_pages()
    for path, text in due.items():
        print(f"{'stale, run `make docs`' if checking else 'written'}: {path.relative_to(ROOT)}")
        if not checking:
            path.write_text(text, "utf-8")
    broken = broken_links()
    for line in broken:
        print(f"broken link in {line}")
    return 1 if broken or (checking and due) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
