"""Where a server answers and how it is asked: base URL, model name, key. Pure."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from seatrial.errors import InputError

API_KEY_VARIABLE = "SEATRIAL_API_KEY"


class Secret:
    """A value that shows itself to nobody: not in output, not in a traceback, not in a log."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value: for the header that needs it, and for the redactor that removes it elsewhere."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server: what trials and benchmarks talk to.

    Attributes:
        base_url: ends in the API's root, e.g. `http://127.0.0.1:30000/v1`, without a slash.
        model: the model name that requests ask for.
        api_key: sent as a bearer token, or None.
        answered_by_ours: tells whether the process that listens on the port is the one that seatrial started; None
            for a server that seatrial did not start, where there is nothing to compare with.
    """

    base_url: str
    model: str
    api_key: Secret | None = field(default=None, repr=False)
    answered_by_ours: Callable[[], bool] | None = field(default=None, repr=False, compare=False)

    @property
    def origin(self) -> str:
        """The server without the API's path: where `/health`, `/metrics` and `/tokenize` are."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc, "", "", ""))


def parse_base_url(text: str) -> str:
    """Return a base URL in its one form; a URL without a path gets the customary `/v1`.

    Raises:
        InputError: it is not an absolute http or https URL, or it carries credentials.
    """
    url = text.strip()
    example = "Give the API's root, e.g. http://127.0.0.1:30000/v1."
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        port_is_valid = False
    is_one_word = not any(character.isspace() for character in url)
    if not port_is_valid or not is_one_word or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError("this is no URL of a server", where=f"--url {_without_password(text)!r}", advice=example)
    if parts.username or parts.password:
        raise InputError(
            "the URL carries a user name or password, which would end up in reports",
            where="--url",
            advice=f"Give the key in a file (--api-key-file) or in {API_KEY_VARIABLE}.",
        )
    if parts.query or parts.fragment:
        # A query often holds a key: it is not repeated.
        shown = urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
        raise InputError("a base URL has no query or fragment", where=f"--url {shown!r}", advice=example)
    path = parts.path.rstrip("/") or "/v1"
    path = path.removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def read_api_key(file: Path | None) -> Secret | None:
    """Return the key from a file, else from the environment, else None.

    Raises:
        InputError: the file can't be read, is empty, holds more than one line, or others on the host can read it; or
            the environment's value is no key.
    """
    if file is None:
        value = os.environ.get(API_KEY_VARIABLE, "").strip()
        if value and not _is_key(value):
            raise InputError("it does not hold one key on one line", where=API_KEY_VARIABLE)
        return Secret(value) if value else None
    where = f"--api-key-file {file}"
    try:
        mode = file.stat().st_mode
        value = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the key can't be read ({_reason(error)})", where=where) from None
    if stat.S_ISREG(mode) and mode & 0o077:
        raise InputError(
            f"others on this host can read or change the key (mode {stat.S_IMODE(mode):04o})",
            where=where,
            advice=f"Run: chmod 600 {file}",
        )
    if not _is_key(value):
        raise InputError("the file does not hold one key on one line", where=where)
    return Secret(value)


def _is_key(value: str) -> bool:
    """Whether a header can carry the value: no white space, no control characters."""
    return bool(value) and value.isprintable() and not any(character.isspace() for character in value)


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    return f"…@{tail}" if at and head else url
