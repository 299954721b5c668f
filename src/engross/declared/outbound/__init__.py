"""Calls to other systems over HTTP: only where the document says, and to no address that was not looked at first."""
