"""What a local token looks like: `egr_<tenant, in hex>_<token id>_<secret>`.

The secret is an HMAC of tenant and id under a key of the office's own. Nothing has to keep it: whoever holds the office
can write the text again, and nobody else can make one up.
"""

from __future__ import annotations

import hmac
import re

PREFIX = "egr_"
ID_PREFIX = "tok_"
FORM = re.compile(r"egr_([0-9a-f]{2,256})_(tok_[0-9a-f-]{36})_[0-9a-f]{64}")


class TokenTexts:
    """Writes the texts of one office's tokens, and knows them again."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def write(self, tenant: str, token_id: str) -> str:
        """The text of a token. It is a secret."""
        # Neither a tenant's name nor an id has a slash.
        secret = hmac.digest(self._secret, f"{tenant}/{token_id}".encode(), "sha256")
        return f"{PREFIX}{tenant.encode().hex()}_{token_id}_{secret.hex()}"

    def read(self, text: str) -> tuple[str, str] | None:
        """The tenant and the id in a text that this office wrote; None for any other."""
        form = FORM.fullmatch(text)
        if form is None:
            return None
        try:
            tenant = bytes.fromhex(form[1]).decode()
        except ValueError:
            return None
        return (tenant, form[2]) if hmac.compare_digest(self.write(tenant, form[2]), text) else None
