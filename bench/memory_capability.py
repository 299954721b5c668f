"""Memory, as a capability that a served office loads whatever its settings say."""

from engross.domains.memory import memory as _memory

memory = _memory()
