"""What the operator chose for documents, and what the domain asks of the office around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from engross.calls import DEFAULT_TENANT
from engross.store import Blobs, tenant_name

TENANT = "{tenant}"
LONGEST = 16 * 1024 * 1024
"""Bytes of the largest document."""


class Ways(NamedTuple):
    """Where documents lie, which schemas there are besides the shipped ones, and how strict a write is."""

    home: Path
    """Where documents lie unless roots are given: a folder for each tenant in this one."""
    blobs: Callable[[str], Blobs]
    """A tenant's blobs, in which every version of a document is kept."""
    roots: tuple[Path, ...] = ()
    """Folders that documents may lie in. `{tenant}` stands for the tenant; a root without it is for `main` alone."""
    schemas_folder: Path | None = None
    refuse_invalid: bool = False
    """Refuse to write what breaks the schema that the call names, instead of saying so."""

    def roots_for(self, tenant: str) -> list[Path]:
        """The folders that this tenant's documents may lie in."""
        if not self.roots:
            return [(self.home / tenant_name(tenant)).resolve()]
        filled = [Path(str(root).replace(TENANT, tenant_name(tenant))) for root in self.roots if _is_for(tenant, root)]
        return [root.absolute() for root in filled]

    def is_home(self, root: Path, tenant: str) -> bool:
        """Whether a root is the tenant's folder in the data folder: it is made when it is first needed."""
        return not self.roots and root == (self.home / tenant_name(tenant)).resolve()


def _is_for(tenant: str, root: Path) -> bool:
    return TENANT in str(root) or tenant == DEFAULT_TENANT
