"""Asks the Hub what a repository holds: commit, files with sizes and hashes, licence, gate. Loads no file.

The token of the Hub's own settings (`HF_TOKEN`, `hf auth login`) is used where there is one, and never shown: every
message of the client is rewritten without it, and without the signatures in addresses.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from seatrial.errors import FetchError, InputError, SeatrialError
from seatrial.store.layout import ListedFile

SECONDS = 10.0
"""A Hub that does not answer within this is not reached."""
MARK = "[secret removed]"
SIGNED = re.compile(r"(https?://[^\s'\"?]+)\?[^\s'\"]*")
TOKENS = re.compile(r"\bhf_[A-Za-z0-9]{8,}\b")


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repository at one commit.

    Attributes:
        repo: `owner/name`.
        revision: what was asked for.
        commit: what it is now.
        files: all of them.
        licence: as its card says; None where it does not.
        gated: it is given only to accounts that accepted its terms.
        private: it is not public.
        access: whether this account may load its files.
    """

    repo: str
    revision: str
    commit: str
    files: tuple[ListedFile, ...]
    licence: str | None
    gated: bool
    private: bool
    access: bool


def endpoint() -> str:
    """Find the Hub's address: `HF_ENDPOINT` as it is now, else the client's own."""
    from huggingface_hub import constants  # noqa: PLC0415 - takes 140 ms, and only the Hub needs it

    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def look_up(repo: str, revision: str | None = None) -> HubModel:
    """Ask what a repository holds.

    Raises:
        InputError: this is no repository's name.
        FetchError: the Hub can't be reached, does not have it, or not for this account.
    """
    from huggingface_hub import HfApi  # noqa: PLC0415 - likewise
    from huggingface_hub.errors import GatedRepoError  # noqa: PLC0415 - likewise
    from huggingface_hub.hf_api import RepoFile  # noqa: PLC0415 - likewise

    check_name(repo)
    reach(repo)
    with asking(repo, revision):
        api = HfApi(endpoint=endpoint(), library_name="seatrial")
        info = api.model_info(repo, revision=revision, timeout=SECONDS)
        commit = str(info.sha)
        gated = bool(info.gated)
        files = []
        for item in api.list_repo_tree(repo, recursive=True, revision=commit):
            if isinstance(item, RepoFile):
                large = item.lfs
                files.append(
                    ListedFile(item.path, large.size, large.sha256)
                    if large is not None
                    else ListedFile(item.path, item.size, item.blob_id)
                )
        access = True
        if gated or info.private:
            try:
                api.auth_check(repo)
            except GatedRepoError:
                access = False
    return HubModel(repo, revision or "main", commit, tuple(files), _licence(info), gated, bool(info.private), access)


def check_name(repo: str) -> None:
    """Make sure that this can be a repository's name; it becomes a part of paths.

    Raises:
        InputError: it can't.
    """
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9_][\w.-]*", repo) or ".." in repo or "--" in repo:
        raise InputError("this is no owner/name of the Hub", where=repo, advice="E.g. Qwen/Qwen3.6-35B-A3B-FP8.")


def reach(where: str) -> None:
    """End at once where the Hub's host can't even be connected to; its client would try for minutes.

    Raises:
        FetchError: it can't be reached, or the environment says that nobody may try.
    """
    from huggingface_hub import constants  # noqa: PLC0415 - likewise

    if constants.HF_HUB_OFFLINE:
        raise FetchError("HF_HUB_OFFLINE is set", where=where, advice="Unset it to ask the Hub.")
    if any(os.environ.get(name) for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")):
        return  # the proxy resolves the name
    address = urlsplit(endpoint())
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection((address.hostname or "", port), timeout=SECONDS).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FetchError(
            f"the Hub can't be reached ({reason})", where=where, advice=f"HF_ENDPOINT is {endpoint()}."
        ) from None


@contextmanager
def asking(repo: str, revision: str | None = None) -> Iterator[None]:
    """Turn whatever the Hub's client raises into one clear line without secrets.

    Raises:
        FetchError: with what to do.
    """
    from huggingface_hub import errors  # noqa: PLC0415 - likewise
    from huggingface_hub.utils import logging  # noqa: PLC0415 - likewise

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # its warnings show whole addresses
    try:
        yield
    except SeatrialError:
        raise
    except errors.GatedRepoError:
        raise FetchError(
            "the Hub gives this checkpoint only to accounts that accepted its terms",
            where=repo,
            advice="Accept them on its page, and log in: hf auth login (or set HF_TOKEN).",
        ) from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError):
        what = f"{repo} at {revision}" if revision else repo
        raise FetchError(
            f"the Hub does not know {what}, or not for this account",
            where=repo,
            advice="Check its name, or log in: hf auth login.",
        ) from None
    except errors.HFValidationError:
        raise InputError("this is no owner/name of the Hub", where=repo) from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status == 401:
            advice = "The token is not valid (any more): hf auth login, or set HF_TOKEN."
        elif status == 429:
            advice = "It asks to slow down: wait some minutes, or log in for a higher limit."
        else:
            advice = "Run it again later; what was loaded stays."
        raise FetchError(f"the Hub refuses ({status}: {clean(first_line(error))})", where=repo, advice=advice) from None
    except errors.HTTPError as error:  # type: ignore[attr-defined]  # what its client raises below the Hub's own
        raise FetchError(
            f"the Hub can't be asked ({clean(first_line(error))})",
            where=repo,
            advice="Run it again; it goes on where it was.",
        ) from None


def token_values() -> Sequence[str]:
    """List the token that requests carry, so that it can be kept out of every text."""
    from huggingface_hub import get_token  # noqa: PLC0415 - likewise

    try:
        token = get_token()
    except Exception:  # noqa: BLE001 - a broken token file is none
        return ()
    return (token,) if token else ()


def clean(text: str) -> str:
    """Take tokens and the signatures of addresses out of a text."""
    for value in token_values():
        text = text.replace(value, MARK)
    return SIGNED.sub(r"\1", TOKENS.sub(MARK, text))


def first_line(error: BaseException) -> str:
    """Take the first line of a message; an exception without any gives its name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _licence(info: object) -> str | None:
    card = getattr(info, "card_data", None)
    named = getattr(card, "license", None)
    if isinstance(named, list):
        named = ", ".join(map(str, named))
    if named and named != "other":
        return str(named)
    own = getattr(card, "license_name", None)
    if own:
        return str(own)
    for tag in getattr(info, "tags", None) or ():
        if str(tag).startswith("license:"):
            return str(tag).removeprefix("license:")
    return str(named) if named else None
