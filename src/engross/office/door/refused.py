"""A credential that is not accepted."""

from __future__ import annotations


class Refused(Exception):
    """Why a credential is bad: for the log, never for whoever sent it. Holds nothing of the credential itself."""
