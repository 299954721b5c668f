"""What an operator may set, and what holds if nothing is set."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from engross.flows import nearest
from engross.replies import Failed, codes

PREFIX = "ENGROSS_"


@dataclass(frozen=True, slots=True)
class Settings:
    """How an office is set up. Each setting has an environment variable: `ENGROSS_` and its name in capitals."""

    data: Path = Path("engross-data")
    """The office's folder: its key, blobs, logs, policies and, unless `store` says otherwise, its database."""
    store: str | None = None
    """The address of a PostgreSQL database to use instead of the SQLite file in the data folder."""
    redis: str | None = None
    """The address of a Redis server for the adapter cache and rate limits."""
    policies: Path | None = None
    """A folder of Cedar policies and knobs.toml laid over the shipped ones: by default `policies` in `data`."""
    read_only: bool = False
    """Refuse every flow that is not safe. Wins over everything."""
    migrate: bool = True
    """Bring an older store up to date on opening, instead of refusing it."""
    call_seconds: float = 30.0
    """How long a call may take."""
    unit_seconds: float = 5.0
    """How long one unit of work may hold the writer."""
    lease_seconds: float = 60.0
    """How long a call to another system may keep its key to itself."""
    seal_seconds: float = 1.0
    """How often receipts are sealed."""
    most_reply_bytes: int = 4_000_000
    """The largest answer."""

    @classmethod
    def from_environment(cls, **given: Any) -> Settings:
        """The given settings, then those of the environment, then the defaults."""
        kinds = {field.name: str(field.type) for field in fields(cls)}
        found = {
            name: _read(name, kind, os.environ[PREFIX + name.upper()])
            for name, kind in kinds.items()
            if PREFIX + name.upper() in os.environ
        }
        for name, value in given.items():
            if name not in kinds:
                raise _invalid(name, did_you_mean=nearest(name, kinds))
            if value is not None:
                found[name] = _fitting(name, kinds[name], value)
        return cls(**found)

    @property
    def location(self) -> str | Path:
        """Where the rows are."""
        return self.store or self.data / "office.db"

    @property
    def policy_folder(self) -> Path | None:
        """The operator's own policies, if there are any."""
        if self.policies is not None:
            return self.policies
        usual = self.data / "policies"
        return usual if usual.is_dir() else None


def _fitting(name: str, kind: str, value: Any) -> Any:
    """A value given in code, as the setting's own type."""
    if "Path" in kind:
        value = Path(value) if isinstance(value, str) else value
    allowed: dict[str, tuple[type, ...]] = {"bool": (bool,), "float": (float, int), "int": (int,)}
    if not isinstance(value, allowed.get(kind, (Path,) if "Path" in kind else (str,))):
        raise _invalid(name, expected=kind)
    return value


def _invalid(name: str, **more: Any) -> Failed:
    return Failed(codes.CONFIG_INVALID, {"setting": name}, data={"setting": name, **more})


def _read(name: str, kind: str, text: str) -> Any:
    try:
        if kind == "bool":
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        if kind in ("float", "int"):
            return float(text) if kind == "float" else int(text)
    except (KeyError, ValueError):
        raise _invalid(PREFIX + name.upper(), expected=kind) from None
    return Path(text) if "Path" in kind else text
