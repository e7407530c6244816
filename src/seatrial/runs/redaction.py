"""Secrets stay out of everything that is written or shown."""

from __future__ import annotations

import html
import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from seatrial.endpoint.address import Secret

SHORTEST_SECRET = 4
"""Shorter values are placeholders ("x"): replacing them would tear up every text."""

LONG_SECRET = 12
"""From here on no name of a member can be meant."""

MARK = "[secret removed]"


class Redactor:
    """Replaces known secrets in text, also in the form that they have inside JSON."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        values = {secret.reveal() for secret in secrets}
        values = {value for value in values if len(value) >= SHORTEST_SECRET}
        forms = {form for value in values for form in _forms(value)}
        self._forms = sorted(forms, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text without the secrets."""
        for form in self._forms:
            text = text.replace(form, MARK)
        return text

    def document(self, value: Any) -> Any:
        """Return plain JSON values without the secrets.

        Strings lose any secret, names of members only a long one: a key that happens to be `null`, `1800` or
        `content` must not tear up the document around it.
        """
        if not self._forms:
            return value
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {self._name(name): self.document(part) for name, part in value.items()}
        return [self.document(part) for part in value] if isinstance(value, list) else value

    def _name(self, name: str) -> str:
        return self(name) if any(len(form) >= LONG_SECRET and form in name for form in self._forms) else name


def _forms(value: str) -> set[str]:
    """List what a secret looks like in text, in HTML, in JSON, and in JSON that stands inside JSON."""
    forms = {value, html.escape(value)}
    for ensure_ascii in (True, False):
        once = json.dumps(value, ensure_ascii=ensure_ascii)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=False)[1:-1]}
    return forms


class RedactingFormatter(logging.Formatter):
    """A log format whose lines, tracebacks included, hold no secret."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Format one record."""
        return self._redact(super().format(record))
