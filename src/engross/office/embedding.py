"""Texts as vectors, by any server that speaks the OpenAI-compatible API. No model comes with the product."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .settings import Settings, required

if TYPE_CHECKING:
    from httpx2 import Client

PATIENCE_SECONDS = 10.0
MOST_TEXTS = 256

_log = logging.getLogger("engross.embedder")


class HttpEmbedder:
    """Asks `{url}/embeddings`. Its name goes into answers, since another model gives other vectors."""

    def __init__(self, url: str, model: str, key: str | None = None) -> None:
        self.name = model
        self._url = f"{url.rstrip('/')}/embeddings"
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._client: Client | None = None

    @classmethod
    def of(cls, settings: Settings) -> HttpEmbedder | None:
        """The embedder that the operator named, if there is one."""
        model, url = required(settings, "embedder_model", "embedder_url"), settings.embedder_url
        return cls(url, model, settings.embedder_key) if url and model else None

    def __call__(self, texts: Sequence[str]) -> list[list[float]] | None:
        """One vector for each text; None while it is away: a search goes on without it, and says so."""
        from httpx2 import HTTPError

        parts = [texts[start : start + MOST_TEXTS] for start in range(0, len(texts), MOST_TEXTS)]
        try:
            vectors = [vector for part in parts for vector in self._vectors(part)]
            if len(vectors) != len(texts) or len(set(map(len, vectors))) != 1:
                raise ValueError("the vectors do not fit the texts")
        except (HTTPError, KeyError, TypeError, ValueError) as error:
            _log.warning("the embedder %s did not answer: %s", self.name, type(error).__name__)
            return None
        return vectors

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        from httpx2 import Client

        if self._client is None:
            self._client = Client(headers=self._headers, timeout=PATIENCE_SECONDS)
        answer = self._client.post(self._url, json={"model": self.name, "input": list(texts)})
        answer.raise_for_status()
        rows = sorted(answer.json()["data"], key=lambda row: row["index"])
        return [[float(number) for number in row["embedding"]] for row in rows]
