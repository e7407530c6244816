"""Which settings reach a goal: a context in one request, a number of requests at once. Every row is planned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from seatrial.engines.sglang.memory.findings import HEADROOM_SHARE
from seatrial.engines.sglang.memory.levers import Lever, Sized, every_lever
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.plan import DEFAULT_VERSION, INPUT_MARGIN, Measured, sized
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.errors import InputError
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts

MOST_ROWS = 6
ENOUGH_WAYS = 3
"""Single changes of different kinds that make a table of trades; with fewer, pairs of changes are tried too."""
COARSE_STEP = 0.02
"""Steps of the fraction in pairs of changes: more than two changes at once would be a search, not advice."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What must fit.

    Attributes:
        context: tokens of one request, input and answer together; None where it doesn't matter.
        concurrency: requests at once; None likewise.
        length: tokens of each of those requests; where None, they only have to be admitted.
    """

    context: int | None = None
    concurrency: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Trade:
    """One way to start the server, and what comes of it.

    Attributes:
        flags: the change, as flags; empty for the launch as it is.
        costs: what is given up for it.
        reaches: it reaches the goal.
        mamba_slots: state slots.
        kv_cache_tokens: tokens of the KV pool.
        max_running_requests: requests at once.
        effective_input_tokens: the longest input that is answered.
        free_gib: free for graphs and activations once the pools are made.
        thin: that is less than such a launch is known to need.
        failure: why it would not start; None where it would.
    """

    flags: str
    costs: str
    reaches: bool
    mamba_slots: int | None
    kv_cache_tokens: int | None
    max_running_requests: int | None
    effective_input_tokens: int | None
    free_gib: float | None
    thin: bool
    failure: str | None = None


def read_goal(items: Iterable[str]) -> Goal:
    """Read `context=262144`, `concurrency=8`, `length=32768`.

    Raises:
        InputError: a name or a number that is not known.
    """
    found: dict[str, int] = {}
    for item in items:
        for part in re.split(r"[,\s]+", item.strip()):
            name, _, value = part.partition("=")
            if name not in ("context", "concurrency", "length"):
                raise InputError(
                    f"{part!r} is no goal", where="--goal", advice="Goals are context=, concurrency= and length=."
                )
            number = re.fullmatch(r"(\d+)([kKmM]?)", value)
            if number is None or int(number[1]) == 0:
                raise InputError(f"{part!r} has no number", where="--goal", advice="Write it like context=262144.")
            found[name] = int(number[1]) * {"": 1, "k": 1024, "m": 1024**2}[number[2].lower()]
    return Goal(found.get("context"), found.get("concurrency"), found.get("length"))


def advise(
    model: ModelFacts,
    host: HostFacts,
    options: MemoryOptions,
    goal: Goal,
    *,
    version: str = DEFAULT_VERSION,
    measured: Measured | None = None,
) -> tuple[Trade, ...]:
    """Say which changes reach a goal, the gentlest first; the launch as it is stands on top.

    Args:
        model: the checkpoint.
        host: the machine.
        options: the launch.
        goal: what must fit.
        version: of SGLang.
        measured: figures of a boot's log.

    Returns:
        The launch as it is, then up to six changes that reach the goal; where none does, those that come closest.
    """

    def size(changed: MemoryOptions) -> MemoryPlan:
        return sized(model, host, changed, version=version, measured=measured)

    wanted = _declared(options, goal)
    base = size(wanted)
    if base.kv_cache_tokens is None:
        return ()
    found = list(_candidates(size, model, wanted, base, goal))
    reaching = [trade for trade in found if trade.reaches]
    chosen = reaching or sorted(found, key=lambda trade: -_score(trade, goal))
    return (_trade("", "", base, goal), *_different(chosen)[:MOST_ROWS])


def _declared(options: MemoryOptions, goal: Goal) -> MemoryOptions:
    """Declare the context that the goal names, so that the pools are judged against it."""
    if goal.context is None or options.context_length is None or options.context_length >= goal.context:
        return options
    return replace(options, context_length=goal.context)


def _candidates(
    size: Sized, model: ModelFacts, options: MemoryOptions, base: MemoryPlan, goal: Goal
) -> Iterator[Trade]:
    singles = list(_tailored(model, options, base, goal)) + list(every_lever(model, options, base))
    planned: list[tuple[Lever, MemoryPlan]] = []
    for lever in singles:
        plan = size(lever.options)
        planned.append((lever, plan))
        yield _trade(lever.flags, lever.costs, plan, goal)
    ways = {lever.flags.split()[0] for lever, plan in planned if _reaches(plan, goal) and not _thin(plan)}
    if len(ways) >= ENOUGH_WAYS:
        return
    alone = {lever.flags for lever, plan in planned if _reaches(plan, goal)}
    for first, plan in planned:
        if first.flags.startswith("--mem-fraction-static") or first.flags in alone:
            continue  # the fraction is tried as the second change of every pair; what reaches alone needs no second
        for second in [
            *_tailored(model, first.options, plan, goal),
            *every_lever(model, first.options, plan, COARSE_STEP),
        ]:
            if second.flags.split()[0] == first.flags.split()[0] or second.flags in alone:
                continue
            both = size(second.options)
            if _reaches(both, goal):
                yield _trade(f"{first.flags} {second.flags}", f"{first.costs}; {second.costs}", both, goal)


def _tailored(model: ModelFacts, options: MemoryOptions, plan: MemoryPlan, goal: Goal) -> Iterator[Lever]:
    """Make the slots just enough for the requests that the goal names: what is left becomes KV tokens."""
    if model.hybrid and goal.concurrency and not options.disable_radix_cache and options.max_mamba_cache_size is None:
        slots = goal.concurrency * (plan.slots_per_request or 5)
        yield Lever(
            f"--max-mamba-cache-size {slots}",
            replace(options, max_mamba_cache_size=slots),
            "fewer states for the prefix cache",
        )


def _reaches(plan: MemoryPlan, goal: Goal) -> bool:
    if plan.failure is not None or plan.kv_cache_tokens is None or plan.max_running_requests is None:
        return False
    context = goal.context is None or (plan.effective_input_tokens or 0) + INPUT_MARGIN >= goal.context
    if goal.concurrency is None:
        return context
    fits = goal.length is None or plan.kv_cache_tokens >= goal.concurrency * goal.length
    return context and fits and plan.max_running_requests >= goal.concurrency


def _thin(plan: MemoryPlan) -> bool:
    gpu = plan.gpus[0] if plan.gpus else None
    if gpu is None or gpu.pools_end_gib is None:
        return False
    needed = (gpu.graphs_gib or 0) + (gpu.activations_gib or 0) + 0.5
    return gpu.pools_end_gib < HEADROOM_SHARE * needed


def _trade(flags: str, costs: str, plan: MemoryPlan, goal: Goal) -> Trade:
    gpu = plan.gpus[0] if plan.gpus else None
    return Trade(
        flags=flags,
        costs=costs,
        reaches=_reaches(plan, goal),
        mamba_slots=plan.mamba_slots,
        kv_cache_tokens=plan.kv_cache_tokens,
        max_running_requests=plan.max_running_requests,
        effective_input_tokens=plan.effective_input_tokens,
        free_gib=None if gpu is None else gpu.pools_end_gib,
        thin=_thin(plan),
        failure=plan.failure.id if plan.failure else None,
    )


def _different(trades: list[Trade]) -> list[Trade]:
    """Keep one row of each kind of change: the first fraction that reaches, no higher one; thin ones come last."""
    kept: dict[str, Trade] = {}
    for trade in sorted(trades, key=lambda trade: (trade.thin, trade.flags.count("--"))):
        kind = " ".join(sorted(re.sub(r"[\d.]+", "#", trade.flags).split()))
        kept.setdefault(kind, trade)
    return list(kept.values())


def _score(trade: Trade, goal: Goal) -> float:
    """Say how near a trade comes to a goal that none reaches."""
    parts = []
    if goal.context:
        parts.append(min(1.0, (trade.kv_cache_tokens or 0) / goal.context))
    if goal.concurrency:
        parts.append(min(1.0, (trade.max_running_requests or 0) / goal.concurrency))
        if goal.length:
            parts.append(min(1.0, (trade.kv_cache_tokens or 0) / (goal.length * goal.concurrency)))
    return min(parts, default=0.0)
