"""A checkpoint's facts from the Hub, without its weights: small files, and its shards' headers by range requests."""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from seatrial.errors import FetchError
from seatrial.facts.chat_template import pick_template
from seatrial.facts.model import ModelFacts, TensorFacts
from seatrial.facts.model_config import read_model

SMALL_FILES = ("generation_config.json", "hf_quant_config.json", "tokenizer_config.json", "chat_template.json")
TEMPLATE = "chat_template.jinja"
SECONDS = 10.0
"""A Hub that does not answer within this is not reached."""


def hub_model_facts(repo: str, *, revision: str | None = None) -> ModelFacts:
    """Ask the Hub for a checkpoint's facts.

    The token of the Hub's own settings (`HF_TOKEN`, `hf auth login`) is used where there is one, and never shown.

    Raises:
        FetchError: it can't be reached, or does not have the checkpoint, or not for this account.
    """
    from huggingface_hub import HfApi, constants, errors  # noqa: PLC0415 - takes 140 ms, and only the Hub needs it

    _reachable(constants.ENDPOINT, repo)
    api = HfApi(library_name="seatrial")
    try:
        info = api.model_info(repo, revision=revision, timeout=SECONDS)
        commit = info.sha or revision
        names = {sibling.rfilename for sibling in info.siblings or ()}
        read = {name: _json(api, repo, name, commit) for name in ("config.json", *SMALL_FILES) if name in names}
        template = _text(api, repo, TEMPLATE, commit) if TEMPLATE in names else None
        tensors, notes = _tensors(api, repo, commit)
    except errors.GatedRepoError:
        raise FetchError(
            "the Hub gives this checkpoint only to accounts that accepted its terms",
            where=repo,
            advice="Accept them on its page, and log in: hf auth login.",
        ) from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.HFValidationError):
        what = f"{repo} at {revision}" if revision else repo
        raise FetchError(
            f"the Hub does not know {what}, or not for this account", where=repo, advice="Check its name, or log in."
        ) from None
    except (errors.HTTPError, OSError) as error:  # type: ignore[attr-defined]  # what its client raises
        raise FetchError(f"the Hub can't be asked ({_first_line(error)})", where=repo, advice=OFFLINE) from None
    if "config.json" not in read:
        raise FetchError("the repository has no config.json", where=repo, advice="Is it a language model's?")
    return read_model(
        read["config.json"],
        source=repo,
        repo=repo,
        revision=commit,
        tensors=tensors,
        chat_template=template or _template_in(read),
        generation_config=read.get("generation_config.json"),
        modelopt_config=read.get("hf_quant_config.json"),
        notes=notes,
    )


OFFLINE = "Give its folder, a store that holds it (--store), or a file of facts (--facts)."


def _reachable(endpoint: str, repo: str) -> None:
    """End at once where the Hub's host can't even be connected to; its client would try for minutes."""
    address = urlsplit(endpoint)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection((address.hostname or "", port), timeout=SECONDS).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FetchError(f"the Hub can't be reached ({reason})", where=repo, advice=OFFLINE) from None


def _text(api: Any, repo: str, name: str, revision: str | None) -> str:

    with tempfile.TemporaryDirectory(prefix="seatrial-hub-") as folder:
        path = api.hf_hub_download(repo, name, revision=revision, cache_dir=folder, etag_timeout=SECONDS)
        return Path(path).read_text(encoding="utf-8", errors="replace")


def _json(api: Any, repo: str, name: str, revision: str | None) -> Mapping[str, Any]:
    try:
        document = json.loads(_text(api, repo, name, revision))
    except ValueError:
        raise FetchError(f"{name} on the Hub is no JSON", where=repo) from None
    return document if isinstance(document, dict) else {}


def _tensors(api: Any, repo: str, revision: str | None) -> tuple[Mapping[str, TensorFacts], tuple[str, ...]]:
    """Read every shard's header; a checkpoint in another format has none."""
    from huggingface_hub import errors  # noqa: PLC0415 - likewise

    try:
        metadata = api.get_safetensors_metadata(repo, revision=revision, timeout=SECONDS)
    except errors.NotASafetensorsRepoError:
        return {}, ("the repository has no safetensors files, so sizes are counted from its config",)
    except errors.SafetensorsParsingError as error:
        return {}, (f"a header of its safetensors files can't be read ({_first_line(error)})",)
    return {
        name: TensorFacts(tensor.dtype, tuple(tensor.shape), tensor.data_offsets[1] - tensor.data_offsets[0])
        for file in metadata.files_metadata.values()
        for name, tensor in file.tensors.items()
    }, ()


def _template_in(read: Mapping[str, Mapping[str, Any]]) -> str | None:

    for name in ("chat_template.json", "tokenizer_config.json"):
        found = pick_template(read.get(name, {}).get("chat_template"))
        if found:
            return found
    return None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
