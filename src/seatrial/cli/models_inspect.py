"""`seatrial models inspect`: a quantized checkpoint read without loading it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.models_shared import StacksOption, StoreOption
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from seatrial.store.checkpoint_findings import Checkpoint
    from seatrial.store.inspection import Inspection

RISK_STYLES = {"fatal": "bold red", "high": "red", "raised": "yellow", "low": "green"}


def inspect(
    model: Annotated[str, typer.Argument(help="A folder, or owner/name, or owner/name@REVISION.")],
    store: StoreOption = None,
    stack: StacksOption = None,
    remote: Annotated[
        bool, typer.Option("--remote", help="Ask the Hub, also where it is in the store: range requests only.")
    ] = False,
    values: Annotated[
        bool, typer.Option("--values/--no-values", help="Look into the scales of local files: zeros, NaN, absurd ones.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Read what is quantized, what the engine would not find, and what that risks; no weight is loaded.

    Looks at the headers of the weight files and at the config: of a folder, of the store, else of the Hub by range
    requests. Says which kinds of modules are quantized, where the checkpoint and SGLang's own rules of exclusion do
    not agree, whether tokenizer, chat template and generation config are there, and what is on record about the
    family. Exit code 1: it can't answer rightly as it is. Only `seatrial prove` says that it does.
    """
    from seatrial.cli.models_shared import find_store
    from seatrial.cli.output import TerminalDisplay, print_json
    from seatrial.findings import exit_code
    from seatrial.store.inspection import inspect as read

    with TerminalDisplay() as display:
        found = _find(model, find_store(store, stack), display, remote=remote, values=values)
        statement = read(found)
    if as_json:
        print_json({**_plain(statement), "scales_read": found.scales is not None})
    else:
        _print(statement, scales=None if found.scales is None else len(found.scales))
    raise typer.Exit(int(exit_code(statement.findings)))


def _find(model: str, store: Path, display: Any, *, remote: bool, values: bool) -> Checkpoint:
    from seatrial.errors import InputError
    from seatrial.store.checkpoint_source import local_checkpoint, remote_checkpoint
    from seatrial.store.layout import find_model

    def on_file(done: int, total: int, name: str) -> None:
        if done == 0:
            display.phase("Looking into the scales")
        display.step(done, total, name if total < 3 else "")

    folder = Path(model).expanduser()
    if model.startswith((".", "/", "~")) or (folder / "config.json").is_file():
        return local_checkpoint(folder, values=values, on_file=on_file)
    repo, _, revision = model.partition("@")
    stored = None if remote else find_model(store, repo) if repo.count("/") == 1 else None
    if stored is not None:
        one = stored.find(revision or None)
        if one is None and len(stored.revisions) == 1 and not revision:
            one = stored.revisions[0]
        if one is not None:
            return local_checkpoint(one.folder, repo=repo, revision=one.commit, values=values, on_file=on_file)
    if repo.count("/") != 1:
        raise InputError("this is neither a folder nor owner/name of the Hub", where=model)
    display.phase(f"Asking the Hub about {repo}")
    return remote_checkpoint(repo, revision or None)


def _plain(statement: Inspection) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(statement)


def _print(statement: Inspection, *, scales: int | None) -> None:
    from rich.table import Table
    from rich.text import Text

    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.models_shared import in_words
    from seatrial.cli.output import console

    out = console()
    at = f" at {statement.revision[:12]}" if statement.revision else ""
    out.print(Text.assemble((f"{statement.repo or statement.source}{at}", "bold"), f"  {statement.architecture}"))
    method = [statement.method or "not quantized"]
    method += [f"{statement.bits} bit"] if statement.bits else []
    method += [f"group {statement.group_size}"] if statement.group_size else []
    method += [statement.format] if statement.format else []
    if statement.symmetric is not None:
        method.append("symmetric" if statement.symmetric else "asymmetric")
    size = in_words(statement.weight_bytes)
    out.print(Text(f"{', '.join(method)}; {statement.tensors:,} tensors, {size}"))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in ("part", "modules", "quantized", "dtypes"):
        table.add_column(column, justify="right" if column in ("modules", "quantized") else "left")
    for kind in statement.kinds:
        share = "–" if not kind.quantized else "all" if kind.quantized == kind.modules else f"{kind.quantized}"
        table.add_row(kind.kind.value, f"{kind.modules}", share, ", ".join(kind.dtypes))
    if statement.kinds:
        out.print(table)
    template = statement.template
    knows = [word for word in ("tools", "thinking") if template.get(word)]
    said = "none" if template.get("tools") is None else ", ".join(knows) or "neither tools nor thinking"
    sampling = ", ".join(f"{key} {value}" for key, value in statement.sampling.items()) or "none recommended"
    out.print(Text(f"chat template: {said}; sampling: {sampling}"), soft_wrap=True)
    if scales is not None:
        out.print(Text(f"scales: {scales:,} tensors looked into", style="dim"))
    out.print()
    print_findings(out, statement.findings)
    out.print(Text.assemble("risk ", (statement.risk, RISK_STYLES[statement.risk])))
    for reason in statement.reasons:
        out.print(Text(f"  {reason}"), soft_wrap=True)
    out.print(Text("  Reading proves nothing about answers: seatrial prove does.", style="dim"))
