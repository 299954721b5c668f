"""REST: every flow at an address of its own, files, and the description of it all."""

from .answers import send_reply
from .openapi import openapi_document
from .routes import Rest, rest_routes

__all__ = ["Rest", "openapi_document", "rest_routes", "send_reply"]
