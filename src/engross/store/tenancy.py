"""Names of tenants."""

from __future__ import annotations

import re
from functools import lru_cache

from engross.replies import Failed, codes

TENANT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")


@lru_cache(maxsize=4096)
def tenant_name(name: str) -> str:
    """The name, when it is fit to be a folder, a setting and a key."""
    if not TENANT_NAME.fullmatch(name):
        raise Failed(codes.CONFIG_INVALID, {"setting": "tenant"})
    return name
