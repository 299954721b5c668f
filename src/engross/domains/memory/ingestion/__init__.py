"""How things get into memory: files, payloads, and entities that are structured already."""

from .flows import add_ingestion_flows

__all__ = ["add_ingestion_flows"]
