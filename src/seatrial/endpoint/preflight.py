"""Before the first question: is there an OpenAI-compatible server, does it take the key, what does it serve?"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from seatrial.endpoint.address import API_KEY_VARIABLE, Endpoint, Secret
from seatrial.endpoint.client import Client, Limits
from seatrial.errors import EndpointError, InputError

KEY_ADVICE = f"Give the key in a file (--api-key-file) or in {API_KEY_VARIABLE}."


async def find_endpoint(base_url: str, model: str | None, api_key: Secret | None, limits: Limits) -> Endpoint:
    """Ask the server for its models, and return the endpoint that serves `model` (or the only model it has).

    Raises:
        EndpointError: it can't be reached, refuses the key, speaks something else, or does not serve the model.
        InputError: no model was named, and there is not exactly one to choose.
    """
    async with Client(Endpoint(base_url, model or ""), limits) as client:
        key = None if api_key is None else api_key.reveal()
        try:
            status, body = await client.get_json("/models", api_key=key)
        except OSError as error:
            raise EndpointError(
                f"{error}",
                where=base_url,
                advice="Is the server up? `curl` the URL from this host; a container may publish another port.",
            ) from None
    served = served_models(status, body, base_url)
    if served is None:
        if model is None:
            raise InputError(
                f"the server lists no models (GET /models: HTTP {status})", where=base_url, advice="Name one: --model."
            )
        return Endpoint(base_url, model, api_key)
    return Endpoint(base_url, choose_model(served, model, base_url), api_key)


def served_models(status: int, body: Any, base_url: str) -> list[str] | None:
    """Read the answer to `GET /models`: the names in it, or None where the server has no such list.

    Raises:
        EndpointError: the answer says that nothing else will work either.
    """
    if status in {401, 403}:
        raise EndpointError(f"the server refuses the key (HTTP {status})", where=base_url, advice=KEY_ADVICE)
    if 300 <= status < 400:
        raise EndpointError(
            f"the server redirects (HTTP {status}); seatrial does not follow, since that would send the key elsewhere",
            where=base_url,
            advice="Give the URL that it leads to.",
        )
    if status >= 500 or status == 429:
        raise EndpointError(
            f"the server answers HTTP {status}", where=base_url, advice="Look at its log; it may still be starting."
        )
    if status != 200:
        return None
    entries = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(entries, list):
        raise EndpointError(
            "what answers there is not an OpenAI-compatible API (GET /models gave no list)",
            where=base_url,
            advice="The base URL usually ends in /v1.",
        )
    return [entry["id"] for entry in entries if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)]


def choose_model(served: list[str], model: str | None, base_url: str) -> str:
    """Return the model to ask for.

    Raises:
        EndpointError: the named model is not served.
        InputError: none was named, and there is not exactly one.
    """
    listed = ", ".join(served[:8]) + (", …" if len(served) > 8 else "") or "nothing"
    if model is None:
        if len(served) != 1:
            raise InputError(f"it serves {len(served)} models: {listed}", where=base_url, advice="Name one: --model.")
        return served[0]
    if model not in served:
        close = difflib.get_close_matches(model, served, n=1, cutoff=0.5)
        raise EndpointError(
            f"it does not serve {model!r}; it serves: {listed}",
            where=base_url,
            advice=f"Did you mean --model {close[0]}?" if close else "Name one of those: --model.",
        )
    return model
