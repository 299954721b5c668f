"""Handing memory out, in formats that others can read: with where everything comes from, or as plain tables."""

from .flows import add_export_flows

__all__ = ["add_export_flows"]
