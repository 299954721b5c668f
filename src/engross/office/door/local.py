"""The operating system's user: their token files, and the agent that standard input and output belong to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IFREG
from typing import NamedTuple, cast, get_args

from engross.calls import Principal, Role
from engross.flows import nearest
from engross.replies import Denied, Invalid, codes
from engross.store.blobs import drop_staged, put_in_place, stage
from engross.store.failures import disk_failure, translated

FOLDER = "tokens"
PRIVATE = 0o600
LARGEST = 4096
GUEST: Role = "contributor"
"""The role of somebody who may use a folder that is not theirs."""


class LocalTokens(NamedTuple):
    """The files with the tokens of the operating system's user. Their content is secret, so it is not here."""

    owner: Path
    """A human with the roles admin and curator."""
    agent: Path
    """That human's agent."""


def os_user() -> str:
    """The name of the operating system's user, as the system says it and not the environment."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"uid-{os.geteuid()}"


def owner_principal() -> Principal:
    """The user as a person, who may do everything that a person may."""
    return Principal(os_user(), "human", frozenset({"admin", "curator"}))


def agent_principal(role: str = "agent") -> Principal:
    """The user's agent."""
    return Principal(f"agent:{os_user()}", "agent", frozenset({role}))


def stdio_principal(role: str, folder: Path) -> Principal:
    """Who calls over standard input and output: the user's agent, with another role if the folder's owner says so."""
    return agent_principal(_granted(role, "agent", folder))


def shell_principal(role: str | None, usual: Role, folder: Path) -> Principal:
    """Who calls from a shell: the user as a person, in the usual role or another if they own the folder, or will."""
    if not folder.exists() or owns(folder):
        granted = usual if role is None else _known(role)
    else:
        granted = _granted(role or GUEST, GUEST, folder)
    return Principal(os_user(), "human", frozenset({granted}))


def _granted(role: str, anyones: Role, folder: Path) -> Role:
    """The role, if it is the one that everybody has or the user owns the folder."""
    known = _known(role)
    if known != anyones and not owns(folder):
        raise Denied(
            codes.INSUFFICIENT_SCOPE,
            {"required": "to be the owner of the data folder"},
            data={"because": [f"office only its owner names another role than {anyones}"]},
        )
    return known


def _known(role: str) -> Role:
    if role in get_args(Role):
        return cast(Role, role)
    known = list(get_args(Role))
    suggestions = {"allowed_values": known, "did_you_mean": nearest(role, known)}
    raise Invalid(codes.VALIDATION_ERROR, {"problem": "there is no such role"}, field="role", suggestions=suggestions)


def owns(folder: Path) -> bool:
    """Whether the operating system's user owns the folder. Being able to open it, as root is, is not enough."""
    with translated(disk_failure):
        return folder.stat().st_uid == os.geteuid()


@contextmanager
def token_folder(data: Path) -> Iterator[Path]:
    """The folder of token files, with nobody else making any meanwhile."""
    import fcntl

    folder = data / FOLDER
    with translated(disk_failure):
        folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(handle)


def read_token(path: Path) -> str | None:
    """The text in a token file that is fit to be used: ours, private, and a plain file."""
    try:
        # A pipe in its place must not keep us waiting.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or found.st_mode != S_IFREG | PRIVATE:
            return None
        return os.read(handle, LARGEST).decode("ascii", "replace").strip()
    finally:
        os.close(handle)


def write_token(path: Path, text: str) -> None:
    """A token file for its owner only, whole or not at all."""
    with translated(disk_failure):
        drop_staged(path)
        put_in_place(stage(path, f"{text}\n".encode()), path)
