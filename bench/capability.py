"""The plainest domain there is, as a capability that a served office loads."""

from bench.notes import notes as _notes

notes = _notes()
