"""Small PDF files, written by hand, and some that mean harm."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

JPEG = b"\xff\xd8\xff\xe0" + b"not much of a photograph" + b"\xff\xd9"


def pdf(*pages: Sequence[str]) -> bytes:
    """A PDF with these lines on its pages."""
    return _file([_content(lines) for lines in pages])


def packed_pdf(stream: bytes) -> bytes:
    """A PDF with one page, whose content is what unpacks from a stream."""
    return _file([_stream(stream, b"/Filter /FlateDecode ")])


def bomb(megabytes: int = 150) -> bytes:
    """A small PDF with a page that unpacks to very much."""
    packer = zlib.compressobj(6)
    piece = b"(A) Tj " * 150_000
    packed = b"".join([packer.compress(b"BT /F1 12 Tf "), *(packer.compress(piece) for _ in range(megabytes))])
    return packed_pdf(packed + packer.flush())


def nested_pdf(depth: int = 100_000) -> bytes:
    """A PDF whose catalogue holds arrays within arrays."""
    return pdf(["hello"]).replace(b"/Type /Catalog", b"/Type /Catalog /Deep " + b"[" * depth + b"]" * depth)


def endless_pdf() -> bytes:
    """A PDF whose pages contain themselves."""
    whole = pdf(["hello"])
    return whole.replace(b"/Kids [4 0 R", b"/Kids [2 0 R")


def scanned_pdf(picture: bytes = JPEG) -> bytes:
    """A PDF whose only page is a photograph."""
    photograph = b"<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8"
    photograph += b" /Filter /DCTDecode /Length %d >>\nstream\n%b\nendstream" % (len(picture), picture)
    return _file([_stream(b"q 8 0 0 8 0 0 cm /Im1 Do Q")], resources=b"/XObject << /Im1 6 0 R >>", more=[photograph])


def _content(lines: Sequence[str]) -> bytes:
    told = [b"BT /F1 12 Tf 72 720 Td 16 TL"]
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        told.append(b"(" + escaped.encode("latin-1") + b") Tj T*")
    return _stream(b"\n".join([*told, b"ET"]))


def _stream(content: bytes, more: bytes = b"") -> bytes:
    return b"<< %b/Length %d >>\nstream\n%b\nendstream" % (more, len(content), content)


def _file(contents: Sequence[bytes], resources: bytes = b"", more: Sequence[bytes] = ()) -> bytes:
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(contents), kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, content in enumerate(contents):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R" % (5 + 2 * number)
        objects += [page + b" /Resources << /Font << /F1 3 0 R >> %b >> >>" % resources, content]
    return _numbered([*objects, *more])


def _numbered(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)
