"""An argument of a flow as an option of a command.

Options carry no rule: what a field may hold, which ones are needed and whether the caller may do it at all is the
office's to say. They only turn texts into JSON.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import typer

from engross.flows import CONTROLS

from .arguments import valued
from .looks import unmarked
from .place import OPTIONS

OWN = ("json", "as_json", "as_text", "dry_run", "yes", "help")
CALL_PANEL = "How to call"
_SPELLABLE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class Field(NamedTuple):
    """One argument of a flow, and the option it is given by."""

    name: str
    schema: Mapping[str, Any]
    needed: bool

    @property
    def option(self) -> str:
        """The option; one of the command line's own names is left to the command line."""
        spelled = self.name.replace("_", "-")
        return f"--field-{spelled}" if spelled.replace("-", "_") in (*OPTIONS, *OWN) else f"--{spelled}"

    @property
    def kind(self) -> str:
        """The JSON type; none where several are possible."""
        kind = self.schema.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def repeated(self) -> bool:
        """Is it a list, given by repeating the option?"""
        return self.kind == "array"

    def parameter(self, name: str) -> inspect.Parameter:
        """The option as a parameter of the command's function."""
        annotation: Any = str | None
        names = [self.option]
        if self.kind == "boolean":
            annotation, names = bool | None, [f"{self.option}/--no-{self.option.removeprefix('--')}"]
        elif self.repeated:
            annotation = list[str] | None
        said = [note for note, holds in (("needed", self.needed), ("may be repeated", self.repeated)) if holds]
        description = str(self.schema.get("description", ""))
        told = typer.Option(
            *names,
            help=unmarked(f"{description} [{', '.join(said)}]" if said else description),
            metavar=None if self.kind == "boolean" else self._metavar(),
            show_default=False,
            rich_help_panel=CALL_PANEL if self.name in CONTROLS else None,
        )
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[annotation, told]
        )

    def value(self, given: Any) -> Any:
        """What was given, as JSON."""
        if self.repeated:
            items = self.schema.get("items", {})
            return [valued(one, items) for one in given]
        return given if isinstance(given, bool) else valued(given, self.schema)

    def _metavar(self) -> str:
        schema = self.schema.get("items", {}) if self.repeated else self.schema
        if "enum" in schema:
            return "|".join(map(str, schema["enum"]))
        kind = schema.get("type")
        named = {"object": "JSON", "array": "JSON", "integer": "INTEGER", "number": "NUMBER", "string": "TEXT"}
        return named.get(kind, "JSON") if isinstance(kind, str) else "JSON"


def fields_of(schema: Mapping[str, Any]) -> Iterator[Field]:
    """The fields of a published schema that can be given by options."""
    needed = schema.get("required", ())
    taken: set[str] = set()
    for name, part in schema.get("properties", {}).items():
        field = Field(name, part, name in needed)
        # What cannot be spelled as an option can be given to `engross call`.
        if _SPELLABLE.fullmatch(name) and field.option not in taken:
            taken.add(field.option)
            yield field
