"""Small office documents, packed by hand, and some that mean harm."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def docx(*lines: str) -> bytes:
    """A Word document with these paragraphs."""
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    return packed({"word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'})


def odt(*lines: str) -> bytes:
    """An OpenDocument text with these paragraphs."""
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    body = "".join(f"<t:p>{line}</t:p>" for line in lines)
    return packed({"mimetype": ODT, "content.xml": f'<office xmlns:t="{text}">{body}</office>'})


def xlsx(rows: Sequence[Sequence[str]], strings: Sequence[str] = ()) -> bytes:
    """A sheet whose cells are given as XML."""
    cells = "".join(f"<row>{''.join(row)}</row>" for row in rows)
    shared = "".join(f"<si><t>{one}</t></si>" for one in strings)
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    return packed(
        {
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}"/>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{cells}</sheetData></worksheet>',
            "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{shared}</sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>',
        }
    )
