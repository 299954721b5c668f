"""Documents that change under a running office are taken up once their new state was accepted, and not before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from engross.flows import Aggregate, FlowDefinitionError, Semantics
from engross.replies import Failed

from .acceptance import Acceptances, stamp_of
from .declared import by_document, digest_of, join, load_document, sources_of

if TYPE_CHECKING:
    from .office import Office

_log = logging.getLogger("engross.declared")
SECONDS = 1.0


class Watch:
    """A thread that looks at what was accepted, and says once of each change that it waits to be.

    It reads a document only when the one or the other has changed.
    """

    def __init__(
        self,
        office: Office,
        aggregates: Iterable[Aggregate],
        others: Callable[[Path], Mapping[str, Semantics]],
        seconds: float = SECONDS,
    ) -> None:
        """`others` are the flows that a document may name besides its own."""
        self._office = office
        self._others = others
        self._seconds = seconds
        self._loaded = by_document(aggregates)
        self._acceptances = Acceptances(office.settings.data)
        self._stamp = self._acceptances.stamp()
        self._seen = {file: _stamps(its) for file, its in self._loaded.items()}
        self._stop = Event()
        self._thread = Thread(target=self._rounds, name="engross-documents", daemon=True)

    def start(self) -> None:
        """Begin, if there is anything to look at."""
        if self._loaded:
            self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def look(self) -> list[Path]:
        """Take up what was accepted since the last look; the documents that were."""
        taken_up: list[Path] = []
        stamp = self._acceptances.stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            taken_up = [file for file in list(self._loaded) if self._is_taken_up(file)]
        for file in self._loaded:
            self._notice(file)
        return taken_up

    def _notice(self, file: Path) -> None:
        """Whoever edits a document under a running office should not wonder why nothing happens."""
        loaded = self._loaded[file]
        stamps = _stamps(loaded)
        if stamps == self._seen[file]:
            return
        self._seen[file] = stamps
        try:
            after = load_document(file, self._office.settings, self._others(file))
        except (Failed, FlowDefinitionError) as error:
            _log.warning("%s has changed, and could not be used: %s", file, _problem(error))
            return
        if digest_of(after) != digest_of(loaded):
            _log.warning("%s has changed, and is used as before until `engross flow accept` takes it", file)

    def _rounds(self) -> None:
        while not self._stop.wait(self._seconds):
            try:
                self.look()
            except Exception as error:
                _log.warning("documents will be looked at again: %s", type(error).__name__)

    def _is_taken_up(self, file: Path) -> bool:
        accepted = self._acceptances.get(file)
        before = self._loaded[file]
        if accepted is None or accepted.digest == digest_of(before):
            return False
        try:
            after = load_document(file, self._office.settings, self._others(file))
            if digest_of(after) != accepted.digest:
                _log.warning("%s has changed since it was accepted: it is left as it is", file)
                return False
            join(self._office, after)
            self._office.catalogue.replace({one.namespace for one in before}, after)
        except (Failed, FlowDefinitionError) as error:
            _log.warning("%s was accepted, but cannot be used: %s", file, _problem(error))
            return False
        self._loaded[file] = list(after)
        _log.info("%s is taken up as it was accepted: %s", file, accepted.digest[:12])
        return True


def _problem(error: Failed | FlowDefinitionError) -> object:
    return (error.data or {}).get("problem", error) if isinstance(error, Failed) else error


def _stamps(aggregates: Iterable[Aggregate]) -> tuple[object, ...]:
    """Something that changes whenever a file of the document is written."""
    return tuple(stamp_of(file) for file in sources_of(aggregates))
