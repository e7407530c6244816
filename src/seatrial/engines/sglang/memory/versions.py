"""What SGLang decides by itself in one version, as data: `data/engine_rules.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class GpuSizeRule:
    """Defaults for GPUs of up to some size; `below_mib` None is for all that are larger."""

    below_mib: int | None
    chunked_prefill_size: int
    decode_max_batch: tuple[int, int]


@dataclass(frozen=True, slots=True)
class EngineRules:
    """The rules of one version; see the data file for what each is and where it was read."""

    since: str
    source: str
    by_gpu_memory: tuple[GpuSizeRule, ...]
    unknown_gpu: Mapping[str, float]
    decode_batch_follows_running_limit: bool
    latent_prefill_graph_tokens: int
    latent_prefill_graphs: bool
    data_parallel_prefill_graphs: bool
    pipeline_prefill_graphs: bool
    kimi_delta_prefill_graphs: bool
    padding_slot_charged: bool
    states_by_stage: bool
    multimodal_reserve_mib: int
    context_clamps_prefill_graphs: bool
    language_model_only: bool
    multimodal: frozenset[str]
    multimodal_disabled: frozenset[str]
    multimodal_prefill_graphs: frozenset[str]
    latent: frozenset[str]
    sliding_pools: frozenset[str]
    extra_buffer: frozenset[str]
    hybrid_without_radix_states: frozenset[str]
    own_draft: frozenset[str]
    swa_full_tokens_ratio: float
    mamba_full_memory_ratio: float

    def for_gpu(self, memory_mib: float | None) -> GpuSizeRule:
        """Say which defaults a GPU of this size gets; None where its size is not known."""
        if memory_mib is None:
            batch = int(self.unknown_gpu["decode_max_batch"])
            return GpuSizeRule(None, int(self.unknown_gpu["chunked_prefill_size"]), (batch, batch))
        return next(rule for rule in self.by_gpu_memory if rule.below_mib is None or memory_mib < rule.below_mib)


def rules_for(version: str) -> tuple[EngineRules, bool]:
    """Take the newest set of rules that is not newer than a version.

    Returns:
        The rules, and whether they are exactly this version's; older or unnumbered versions get the oldest set.
    """
    known = _sets()
    wanted = _numbers(version)
    fitting = [rules for rules in known if _numbers(rules.since) <= wanted]
    chosen = fitting[-1] if fitting else known[0]
    return chosen, chosen.since == version.removeprefix("v")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


@cache
def _sets() -> tuple[EngineRules, ...]:
    text = resources.files(__package__).joinpath("data", "engine_rules.json").read_text(encoding="utf-8")
    raw: Sequence[dict[str, object]] = json.loads(text)["sets"]
    by_version: dict[str, dict[str, object]] = {}
    for item in raw:
        base = by_version.get(str(item.get("base")), {})
        by_version[str(item["from"])] = {**base, **item}
    return tuple(_rules(item) for item in by_version.values())


def _rules(item: dict[str, object]) -> EngineRules:
    values = {name: value for name, value in item.items() if name not in ("from", "base", "by_gpu_memory")}
    sets = {name: frozenset(value) for name, value in values.items() if isinstance(value, list)}
    sizes = item["by_gpu_memory"]
    assert isinstance(sizes, list)  # the data file is ours
    return EngineRules(
        since=str(item["from"]),
        by_gpu_memory=tuple(
            GpuSizeRule(
                row["below_mib"], row["chunked_prefill_size"], (row["decode_max_batch"][0], row["decode_max_batch"][1])
            )
            for row in sizes
        ),
        **{**values, **sets},  # type: ignore[arg-type]
    )
