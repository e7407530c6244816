"""The options of `seatrial bench`, and how their text becomes a workload and a plan of load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from seatrial.bench.plan import Level, LoadPlan
    from seatrial.bench.workload import Workload

FormatName = Literal["sglang-jsonl", "aiperf-csv"]

WorkloadOption = Annotated[
    Literal["review", "chat", "summarize", "decode"],
    typer.Option(
        "--workload",
        help="What is asked: review (diff in, tool calls out), chat, summarize (long in), decode (long out).",
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="FILE", help="Your own prompts instead: a chat request as JSON on each line."),
]
Concurrency = Annotated[
    str, typer.Option("--concurrency", help="Requests at once: levels, separated by commas.", metavar="N,N…")
]
Rate = Annotated[
    str | None,
    typer.Option("--rate", metavar="N,N…", help="Requests per second instead, whatever the server does: levels."),
]
ArrivalsOption = Annotated[
    Literal["poisson", "constant"], typer.Option("--arrivals", help="With --rate: when requests come.")
]
RampOption = Annotated[
    bool, typer.Option("--ramp", help="Double the requests at once until throughput stops to grow; name the knee.")
]
RampTo = Annotated[int, typer.Option("--ramp-to", min=1, help="With --ramp: most requests at once.")]
Requests = Annotated[
    int,
    typer.Option("--requests", min=1, help="Requests of each level for each one at once; with --rate: ten times that."),
]
Duration = Annotated[
    float | None,
    typer.Option("--duration", min=0.1, metavar="SECONDS", help="How long each level begins requests, instead."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", min=2, help="Most tokens of one answer. Default: the workload's."),
]
InputTokens = Annotated[
    int | None, typer.Option("--input-tokens", min=16, help="With summarize: about so many tokens in.")
]
WarmUp = Annotated[
    int | None,
    typer.Option("--warm-up", min=0, help="Requests before the first level, in no figure. Default: the largest level."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed asks the same questions in the same order.")]
PrefixCacheOption = Annotated[
    Literal["avoid", "allow"],
    typer.Option("--prefix-cache", help="avoid: each prompt begins with something new. allow: prompts as they are."),
]
IgnoreEos = Annotated[
    bool, typer.Option("--ignore-eos", help="Ask the engine to write on to the budget: not how real answers end.")
]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        metavar="NAME=SECONDS",
        help="For goodput: ttft, ttfat, tpot or e2e with its largest value, e.g. ttft=0.5. Repeatable.",
    ),
]
Allowed = Annotated[
    float,
    typer.Option("--allowed-degenerate", min=0, max=1, help="Largest share of broken answers that voids nothing."),
]
Format = Annotated[
    FormatName | None,
    typer.Option("--format", help="Print the result in another tool's shape: SGLang's bench_serving or AIPerf."),
]

OBJECTIVE_NAMES = {
    "ttft": "time_to_first_token",
    "ttfat": "time_to_first_answer_token",
    "tpot": "time_per_output_token",
    "e2e": "end_to_end_latency",
}
UNITS = {"ms": 0.001, "s": 1.0}
LARGEST_WARM_UP = 32
"""Where nobody chooses: enough to fill a batch once."""


@dataclass(frozen=True, slots=True)
class WorkloadChoice:
    """What the options say about the workload."""

    name: str
    prompts: Path | None
    max_tokens: int | None
    input_tokens: int | None
    sampling: dict[str, Any]
    seed: int
    prefix_cache: str
    ignore_eos: bool


@dataclass(frozen=True, slots=True)
class LoadChoice:
    """What the options say about the load."""

    concurrency: str
    rate: str | None
    arrivals: str
    ramp: bool
    ramp_to: int
    requests: int
    duration: float | None
    warm_up: int | None
    objectives: Sequence[str]
    allowed_degenerate: float


def make_workload(choice: WorkloadChoice) -> Workload:
    """Make the workload.

    Raises:
        InputError: the file of prompts can't be read.
    """
    from seatrial.bench.prompt_file import read_prompts
    from seatrial.bench.workload import OUTPUT_TOKENS, PrefixCache, Workload, WorkloadName, builtin

    cache = PrefixCache(choice.prefix_cache)
    if choice.prompts is None:
        return builtin(
            choice.name,
            choice.max_tokens,
            choice.sampling,
            seed=choice.seed,
            input_tokens=choice.input_tokens,
            prefix_cache=cache,
            ignore_eos=choice.ignore_eos,
        )
    budget = choice.max_tokens or OUTPUT_TOKENS[WorkloadName.CHAT]
    rows = read_prompts(choice.prompts)
    return Workload("jsonl", budget, choice.sampling, choice.seed, None, cache, choice.ignore_eos, rows=rows)


def make_plan(choice: LoadChoice) -> LoadPlan:
    """Make the plan of load.

    Raises:
        InputError: an option's text is not what it should be, or two contradict each other.
    """
    from seatrial.bench.plan import LoadPlan, Ramp
    from seatrial.errors import InputError

    objectives = parse_objectives(choice.objectives)
    if choice.ramp and (choice.rate is not None or choice.duration is not None):
        raise InputError("a ramp has levels of its own", where="--ramp", advice="Leave --rate and --duration out.")
    if choice.ramp:
        warm_up = 4 if choice.warm_up is None else choice.warm_up
        return LoadPlan(
            ramp=Ramp(largest=choice.ramp_to),
            ramp_requests=lambda level: max(choice.requests * level, 8),
            warm_up=warm_up,
            objectives=objectives,
            allowed_degenerate=choice.allowed_degenerate,
        )
    levels = _levels(choice)
    largest = max(level.concurrency or 1 for level in levels)
    warm_up = min(largest, LARGEST_WARM_UP) if choice.warm_up is None else choice.warm_up
    return LoadPlan(levels, warm_up=warm_up, objectives=objectives, allowed_degenerate=choice.allowed_degenerate)


def _levels(choice: LoadChoice) -> tuple[Level, ...]:
    from seatrial.bench.plan import Arrivals, Level

    if choice.rate is not None:
        rates = parse_numbers(choice.rate, "--rate")
        count = None if choice.duration is not None else choice.requests * 10
        arrivals = Arrivals(choice.arrivals)
        return tuple(Level(rate=rate, arrivals=arrivals, requests=count, seconds=choice.duration) for rate in rates)
    concurrency = parse_levels(choice.concurrency)
    if choice.duration is not None:
        return tuple(Level(level, seconds=choice.duration) for level in concurrency)
    return tuple(Level(level, requests=choice.requests * level) for level in concurrency)


def parse_levels(text: str, where: str = "--concurrency") -> tuple[int, ...]:
    """Read a list of whole numbers.

    Raises:
        InputError: it is not a list of positive whole numbers.
    """
    from seatrial.errors import InputError

    numbers = parse_numbers(text, where)
    if any(number != int(number) for number in numbers):
        raise InputError("it is not a list of whole numbers", where=f"{where} {text!r}", advice="E.g. 1,2,4,8.")
    return tuple(int(number) for number in numbers)


def parse_numbers(text: str, where: str) -> tuple[float, ...]:
    """Read a list of positive numbers.

    Raises:
        InputError: it is none.
    """
    import math

    from seatrial.errors import InputError

    try:
        numbers = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) <= 0 or not all(math.isfinite(number) for number in numbers):
        raise InputError("it is not a list of positive numbers", where=f"{where} {text!r}", advice="E.g. 1,2,4,8.")
    return numbers


def parse_objectives(texts: Sequence[str]) -> dict[str, float]:
    """Read objectives such as `ttft=0.5`, `tpot=50ms`.

    Raises:
        InputError: one is none; it names the nearest right spelling.
    """
    import difflib

    from seatrial.errors import InputError

    found: dict[str, float] = {}
    known = {**OBJECTIVE_NAMES, **{name: name for name in OBJECTIVE_NAMES.values()}}
    for text in texts:
        name, _, value = text.partition("=")
        where = f"--objective {text!r}"
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            advice = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(OBJECTIVE_NAMES)}."
            raise InputError(f"there is no metric {name!r} to have an objective for", where=where, advice=advice)
        unit = next((unit for unit in UNITS if value.endswith(unit)), "s")
        try:
            seconds = float(value.removesuffix(unit)) * UNITS[unit]
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise InputError("its value is no positive time", where=where, advice="E.g. ttft=0.5 or tpot=50ms.")
        found[known[name]] = seconds
    return found
