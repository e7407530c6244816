"""Options that several commands share, and how their text becomes values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from seatrial.endpoint.client import Limits

Url = Annotated[
    str,
    typer.Option("--url", help="The API's root, e.g. http://127.0.0.1:30000/v1.", show_default=False, metavar="URL"),
]
Model = Annotated[
    str | None, typer.Option("--model", help="The served model's name; needed where the server has several.")
]
ApiKeyFile = Annotated[
    Path | None,
    typer.Option("--api-key-file", help="A file (mode 0600) with the key; else SEATRIAL_API_KEY is used."),
]
Sampling = Annotated[
    str | None,
    typer.Option(
        "--sampling",
        help="'greedy', or JSON such as '{\"temperature\": 0.6}'. Default: nothing is sent, the server decides.",
    ),
]
OverLong = Annotated[
    Literal["reject", "truncate"],
    typer.Option("--over-long", help="What is right for over-long input: a clear refusal, or a (decided) truncation."),
]
RequestTimeout = Annotated[
    float, typer.Option("--request-timeout", min=0.1, help="Seconds until a whole answer must be there.")
]
SilenceTimeout = Annotated[
    float, typer.Option("--silence-timeout", min=0.1, help="Seconds that a stream may be silent.")
]
ConnectTimeout = Annotated[float, typer.Option("--connect-timeout", min=0.1, help="Seconds until a connection stands.")]
Runs = Annotated[Path, typer.Option("--runs", help="Where the run's folder is made.", file_okay=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout, and nothing else there.")]


def limits(connect: float, request: float, silence: float) -> Limits:
    """Make the client's limits from the options."""
    from seatrial.endpoint.client import Limits

    return Limits(connect=connect, request=request, silence=min(silence, request))


def parse_sampling(text: str | None) -> dict[str, Any]:
    """Read `--sampling`.

    Raises:
        InputError: it is neither 'greedy' nor a JSON object.
    """
    import json

    from seatrial.errors import InputError

    if text is None:
        return {}
    if text == "greedy":
        return {"temperature": 0}
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InputError(
            "it is neither 'greedy' nor a JSON object",
            where=f"--sampling {text!r}",
            advice='E.g. --sampling \'{"temperature": 0.6, "top_p": 0.95}\'.',
        )
    reserved = sorted({"model", "messages", "stream", "tools", "tool_choice"} & value.keys())
    if reserved:
        raise InputError(f"{reserved[0]!r} is the trial's to set", where="--sampling")
    return value
