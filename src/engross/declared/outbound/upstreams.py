"""Who answers the requests of a document: the network, a recording, or the network while it is being recorded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from ..redaction import Redactor
from ..ways import Ways
from .exchange import Origin
from .outbound import Outbound
from .recording import Recorder, Recording

Upstreams: TypeAlias = Outbound | Recording | Recorder


def upstreams_of(document: Path, origins: Iterable[Origin], ways: Ways, redactor: Redactor) -> Upstreams:
    """As the operator chose."""
    if ways.upstreams == "live":
        return Outbound(origins, ways)
    recording = Recording(ways.recording or recording_of(document), redactor)
    return recording if ways.upstreams == "recorded" else Recorder(Outbound(origins, ways), recording)


def recording_of(document: Path) -> Path:
    """The recording beside a document: `forecast.yaml` has `forecast.upstreams.json`."""
    return document.with_name(f"{document.stem}.upstreams.json")
