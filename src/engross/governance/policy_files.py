"""Policy files: those that ship with the package, and the operator's own laid over them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engross.plainfile import only_plain
from engross.replies import Failed, codes

SUFFIX = ".cedar"
SHIPPED = Path(__file__).with_name("policies")


def shipped_policies() -> dict[str, str]:
    """The texts of the policy files in the package, by file name."""
    return _texts(SHIPPED)


def laid_over(folder: Path) -> dict[str, str]:
    """The shipped texts and a folder's own; a file of the same name takes the shipped one's place."""
    if not folder.is_dir():
        raise policy_problem(folder.name, "there is no such folder")
    return {**shipped_policies(), **_texts(folder)}


def schema_text() -> str:
    """What policies may speak about."""
    return (SHIPPED / "engross.cedarschema").read_text(encoding="utf-8")


def policy_problem(file: str, problem: str, **more: object) -> Failed:
    """The failure that names the file an operator has to mend."""
    told: Mapping[str, object] = {"file": file, "problem": problem, **more}
    return Failed(codes.CONFIG_INVALID, {"setting": f"policy {file}"}, data=told)


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: _text(path) for path in sorted(folder.iterdir()) if path.suffix == SUFFIX}


def _text(path: Path) -> str:
    try:
        with open(path, encoding="utf-8", opener=only_plain) as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as unreadable:
        raise policy_problem(path.name, "the file cannot be read as text") from unreadable
