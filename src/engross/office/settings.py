"""What an operator may set, and what holds if nothing is set."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from engross.flows import nearest
from engross.plainfile import stands_at
from engross.replies import Failed, codes
from engross.store.opening import is_postgres

PREFIX = "ENGROSS_"
LETTERS_PER_SLIP = 3
TOKEN_VARIABLE = f"{PREFIX}TOKEN"
"""A caller's own variable: the token for an office that is served elsewhere."""
_ADDRESS = re.compile(r".*:[0-9]{0,5}")
NO_FOLDER = "it begins like an address"
WHERE_ADDRESSES_GO = (
    "An office that runs elsewhere is reached by http:// or https://, on the command line with --url; "
    "a database is named by the setting store. Should it be a folder, give its whole path."
)
NO_DATABASE = "it is not the address of a PostgreSQL database"
WHERE_ROWS_GO = (
    "Give it as postgresql://user:password@host:5432/database. "
    "Without the setting, the rows are in the data folder; the setting data names another one."
)
REDIS_SCHEMES = ("redis://", "rediss://", "redis+unix://")
NO_REDIS = "it is not the address of a Redis server"
HOW_REDIS_IS_NAMED = "Give it as redis://host:6379/0, with rediss:// for TLS, or as redis+unix:///path/to/redis.sock."
FILES = "tuple[Path, ...]"
"""A setting that names several files. In the environment they are separated as in PATH."""
_OF_A_SERVICE = r"ENGROSS(_\w+)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
"""What Kubernetes tells its containers about services whose names begin with `engross`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How an office is set up. Each setting has an environment variable: `ENGROSS_` and its name in capitals."""

    data: Path = Path("engross-data")
    """The office's folder: its key, blobs, logs, policies and, unless `store` says otherwise, its database."""
    store: str | None = None
    """The address of a PostgreSQL database (`postgresql://…`) to use instead of the SQLite file in the data folder;
    needs the extra `postgres`."""
    redis: str | None = None
    """The address of a Redis server (`redis://…`) for the adapter cache and rate limits; needs the extra `redis`."""
    policies: Path | None = None
    """A folder of Cedar policies and knobs.toml laid over the shipped ones: by default `policies` in `data`."""
    capabilities: tuple[Path, ...] = ()
    """Files that define aggregates, besides those in the folder `capabilities` in `data`."""
    domains: str = "architecture,memory,documents"
    """The built-in domains that the office has, separated by commas. One that nobody uses costs nothing."""
    toolsets: str | None = None
    """The toolsets to list, separated by commas. The flows of `legacy` are on no surface unless it is named."""
    document_roots: tuple[Path, ...] = ()
    """Folders that documents may lie in, instead of `documents` in `data`; `{tenant}` in one stands for the tenant."""
    document_schemas: Path | None = None
    """A folder of schemas for documents besides the shipped ones: by default `schemas` in `data`."""
    refuse_invalid_documents: bool = False
    """Refuse to write a document that breaks the schema it is to be held against, instead of saying so."""
    embedder_url: str | None = None
    """Where texts become vectors for searches: the base of an OpenAI-compatible API, as `http://localhost:11434/v1`."""
    embedder_model: str | None = None
    """The model that does it. Needed with `embedder_url`."""
    embedder_key: str | None = None
    """The key that the embedder asks for, if it asks for one."""
    interpreter_url: str | None = None
    """Where a model reads files for memory: the base of an OpenAI-compatible API. Without it, only rules read them."""
    interpreter_model: str | None = None
    """The model that does it. Needed with `interpreter_url`."""
    interpreter_key: str | None = None
    """The key that the model asks for, if it asks for one."""
    interpretation_quota: int = 100
    """How many files one user may have interpreted in 30 days."""
    private_hosts: str | None = None
    """Names, addresses and networks that declared flows may call although they are private, separated by commas."""
    upstreams: str = "live"
    """What declared flows call: `live`, or `recorded` answers that lie beside the document, or `record` them."""
    read_only: bool = False
    """Refuse every flow that is not safe, and to bring an older store up to date. Wins over everything."""
    migrate: bool = True
    """Bring an older store up to date on opening, instead of refusing it."""
    call_seconds: float = 30.0
    """How long a call may take."""
    unit_seconds: float = 5.0
    """How long one unit of work may hold the writer."""
    bulk_seconds: float = 600.0
    """How long a flow that takes in very much at once, such as an import, may take, and hold the writer."""
    lease_seconds: float = 60.0
    """How long a call to another system may keep its key to itself."""
    seal_seconds: float = 1.0
    """How often receipts are sealed."""
    most_reply_bytes: int = 4_000_000
    """The largest answer."""
    public_url: str | None = None
    """The address under which others reach a served office, when a proxy stands before it."""
    hosts: str | None = None
    """More names that a served office answers to, separated by commas. One without a port stands for every port."""
    origins: str | None = None
    """Origins of web pages that may call a served office, separated by commas, as `https://tools.example.org`."""
    most_body_bytes: int = 4_194_304
    """The largest request that a served office takes."""
    most_upload_bytes: int = 1_073_741_824
    """The largest file that a served office takes."""
    body_seconds: float = 30.0
    """How long a served office waits for a request to arrive; a larger one that keeps coming may take longer."""
    most_requests: int = 2_000
    """How many requests a served office takes at once."""
    most_sessions: int = 2_000
    """How many sessions of MCP clients a served office keeps at once. Only clients that shake hands have sessions."""
    most_sessions_each: int = 200
    """How many of them one caller may have."""
    session_seconds: float = 1800.0
    """How long a session lasts without a request and without a stream."""
    shutdown_seconds: float = 20.0
    """How long running calls may go on when a served office is told to end."""
    open_metrics: bool = False
    """Show `/metrics` to everybody who can reach the port, not only to this machine and to admins."""
    log_level: str = "info"
    """The least that a served office logs: `debug`, `info`, `warning` or `error`."""
    otlp: str | None = None
    """Where `serve` and `mcp` send OpenTelemetry spans, as `http://localhost:4318`; needs the extra `otel`."""
    issuer: str | None = None
    """The OpenID Connect issuer whose tokens are accepted, exactly as they name it in `iss`. See docs/door.md."""
    audience: str | None = None
    """What a token of the issuer's must name in `aud` to be meant for this office. Needed with `issuer`."""
    jwks: str | None = None
    """Where the issuer publishes its keys, if its own configuration is not to be asked for that."""
    tenant_claim: str = "tenantId"
    """The claim that names the tenant. Empty: everybody is in the tenant `main`."""
    type_claim: str = "principal_type"
    """The claim that says `human`, `agent` or `service`. Without it a bearer is an agent."""
    roles_claim: str = "roles"
    """The claim that lists roles. A path, as `realm_access.roles`, leads into an object."""
    scopes: str | None = None
    """Scopes that clients should ask the issuer for, separated by blanks; told in the resource's metadata."""

    @classmethod
    def from_environment(cls, **given: Any) -> Settings:
        """The given settings, then those of the environment, then the defaults."""
        kinds = {field.name: str(field.type) for field in fields(cls)}
        _refuse_mistyped()
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
        for name, value in found.items():
            if kinds[name] in ("float", "int") and not value > 0:
                raise _invalid(name, expected="a number above 0")
        if "data" in found and _begins_like_an_address(found["data"]):
            raise _invalid("data", problem=NO_FOLDER, hint=WHERE_ADDRESSES_GO)
        if "store" in found and not is_postgres(found["store"]):
            # What was given is not told: it may hold a password.
            raise _invalid("store", problem=NO_DATABASE, hint=WHERE_ROWS_GO)
        if "redis" in found and not found["redis"].startswith(REDIS_SCHEMES):
            raise _invalid("redis", problem=NO_REDIS, hint=HOW_REDIS_IS_NAMED)
        return cls(**found)

    @property
    def location(self) -> str | Path:
        """Where the rows are."""
        return self.store or self.data / "office.db"

    @property
    def policy_folder(self) -> Path | None:
        """The operator's own policies, if there are any."""
        usual = self.data / "policies"
        if self.policies is None and not stands_at(usual):
            return None
        return _readable("policies", self.policies or usual)

    @property
    def schema_folder(self) -> Path:
        """The operator's own schemas of documents; the usual folder may come to be while the office is open."""
        usual = self.data / "schemas"
        if self.document_schemas is None and not stands_at(usual):
            return usual
        return _readable("document_schemas", self.document_schemas or usual)


def unknown_variables() -> list[str]:
    """The variables of the environment that are called like settings, and are none."""
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known_variables())


def required(settings: Settings, name: str, because: str) -> str | None:
    """A setting that must be there when another one is."""
    value: str | None = getattr(settings, name)
    if value is None and getattr(settings, because) is not None:
        raise _invalid(name, needed_with=because)
    return value


def _begins_like_an_address(folder: Path) -> bool:
    """Of `https://x` a path keeps `https:/x`: a mistyped address must not become a folder, nor a host with its port."""
    return _ADDRESS.fullmatch(str(folder).partition("/")[0]) is not None


def _readable(name: str, folder: Path) -> Path:
    """The folder; whatever cannot be read as one is refused, so that nothing in it is passed over."""
    try:
        os.scandir(folder).close()
    except OSError as error:
        problem = f"it cannot be read as a folder ({type(error).__name__})"
        raise _invalid(name, file=str(folder), problem=problem) from error
    return folder


def _fitting(name: str, kind: str, value: Any) -> Any:
    """A value given in code, as the setting's own type."""
    if kind == FILES:
        return _files(name, value)
    if "Path" in kind:
        value = Path(value) if isinstance(value, str) else value
    allowed: dict[str, tuple[type, ...]] = {"bool": (bool,), "float": (float, int), "int": (int,)}
    if not isinstance(value, allowed.get(kind, (Path,) if "Path" in kind else (str,))):
        raise _invalid(name, expected=_in_words(kind))
    return value


def _in_words(kind: str) -> str:
    """What a setting of a type takes."""
    words = {"bool": "true or false", "float": "a number", "int": "a whole number"}
    return words.get(kind, "a path" if "Path" in kind else "text")


def _files(name: str, value: Any) -> tuple[Path, ...]:
    given = [value] if isinstance(value, str | Path) else value
    if not isinstance(given, list | tuple) or not all(isinstance(one, str | Path) for one in given):
        raise _invalid(name, expected="paths")
    return tuple(map(Path, given))


def known_variables() -> list[str]:
    """The variables of the environment that mean something here."""
    return [TOKEN_VARIABLE, *(PREFIX + field.name.upper() for field in fields(Settings))]


def _refuse_mistyped() -> None:
    """A setting that is nearly named is meant: what should hold must not be left out in silence."""
    for variable in unknown_variables():
        if re.fullmatch(_OF_A_SERVICE, variable) is None and (meant := _nearest_variables(variable)):
            raise _invalid(variable, did_you_mean=meant)


def _nearest_variables(variable: str) -> list[str]:
    """Those that differ by a slip of the pen. A mere word in common, as in ENGROSS_URL, may be anybody's own."""
    from rapidfuzz.distance import OSA

    def letters(name: str) -> str:
        return name.removeprefix(PREFIX).replace("_", "").casefold()

    slips = len(letters(variable)) // LETTERS_PER_SLIP
    return [name for name in known_variables() if OSA.distance(letters(variable), letters(name)) <= slips]


def _invalid(name: str, **more: Any) -> Failed:
    return Failed(codes.CONFIG_INVALID, {"setting": name}, data={"setting": name, **more})


def _read(name: str, kind: str, text: str) -> Any:
    try:
        if kind == "bool":
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        if kind in ("float", "int"):
            return float(text) if kind == "float" else int(text)
    except (KeyError, ValueError):
        raise _invalid(PREFIX + name.upper(), expected=_in_words(kind)) from None
    if kind == FILES:
        return tuple(Path(part) for part in text.split(os.pathsep) if part)
    return Path(text) if "Path" in kind else text
