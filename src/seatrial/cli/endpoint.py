"""`seatrial endpoint`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from seatrial.cli.options import ApiKeyFile, ConnectTimeout, Model, RequestTimeout, Url


def endpoint(
    url: Url,
    model: Model = None,
    api_key_file: ApiKeyFile = None,
    form: Annotated[
        Literal["env", "openai", "langchain", "litellm", "opencode"],
        typer.Option("--format", help="The program that is to use the server."),
    ] = "env",
    connect_timeout: ConnectTimeout = 10,
    request_timeout: RequestTimeout = 30,
) -> None:
    """Print the settings with which another program uses a server; the key itself is never printed."""
    from seatrial.cli.options import limits
    from seatrial.cli.running import run
    from seatrial.endpoint.address import parse_base_url, read_api_key
    from seatrial.endpoint.clients import ClientFormat, client_settings
    from seatrial.endpoint.preflight import find_endpoint

    waits = limits(connect_timeout, request_timeout, request_timeout)
    found = run(find_endpoint(parse_base_url(url), model, read_api_key(api_key_file), waits))
    typer.echo(client_settings(found, ClientFormat(form)), nl=False)
