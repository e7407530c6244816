"""What makes broken answers of a quantized checkpoint likelier, and what is on record about its family. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from seatrial.engines.sglang.checkpoint_modules import CheckpointModule
from seatrial.engines.sglang.module_kinds import ModuleKind
from seatrial.facts.model import LayerKind, ModelFacts
from seatrial.facts.reported import Reported

Grade = Literal["high", "raised"]
FAMILY = re.compile(r"([A-Za-z]+[-_ ]?\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class KindSummary:
    """One part of a model: how many of its modules are stored quantized.

    Attributes:
        kind: which part.
        modules: how many.
        quantized: how many of them are stored quantized.
        dtypes: of their weights.
    """

    kind: ModuleKind
    modules: int
    quantized: int
    dtypes: tuple[str, ...]


def family_of(facts: ModelFacts) -> str:
    """Name the family: from the repository's name (`Qwen3.6-27B-AWQ` is Qwen3.6); empty where it does not say."""
    name = (facts.repo or facts.source).rstrip("/").rpartition("/")[2]
    found = FAMILY.match(name)
    return found[1] if found else ""


def summaries(modules: Iterable[CheckpointModule]) -> Iterator[KindSummary]:
    """Count the modules of each part, and how many of them are stored quantized."""
    counts: Counter[ModuleKind] = Counter()
    quantized: Counter[ModuleKind] = Counter()
    dtypes: dict[ModuleKind, set[str]] = {}
    for module in modules:
        counts[module.kind] += 1
        quantized[module.kind] += module.quantized
        dtypes.setdefault(module.kind, set()).add(module.dtype)
    for kind in ModuleKind:
        if counts[kind]:
            yield KindSummary(kind, counts[kind], quantized[kind], tuple(sorted(dtypes[kind] - {""})))


def reasons(facts: ModelFacts, kinds: Mapping[ModuleKind, KindSummary]) -> Iterator[tuple[Grade, str]]:
    """Say what makes broken answers likelier, each with a grade: high or raised."""
    quantization = facts.quantization
    if quantization is None:
        return
    bits = quantization.bits
    low = bits is not None and bits <= 4
    width = f"{bits}-bit" if bits else "quantized"

    def quantized(kind: ModuleKind) -> int:
        return kinds[kind].quantized if kind in kinds else 0

    if quantized(ModuleKind.LINEAR_ATTENTION_GATES):
        yield (
            "high",
            f"the gates of the linear attention (in_proj_a, in_proj_b) are {width}: their errors pile up in the state",
        )
    if low and (quantized(ModuleKind.LINEAR_ATTENTION_INPUT) or quantized(ModuleKind.LINEAR_ATTENTION_OUTPUT)):
        name = "GDN" if LayerKind.GATED_DELTA_NET in facts.layers else "linear-attention"
        yield (
            "high",
            f"the {name} projections are {width}: conservative releases keep them in 16 bit",
        )
    parts: tuple[tuple[ModuleKind, Grade, str], ...] = (
        (ModuleKind.ROUTER, "high", "the router gates are quantized: tokens go to other experts"),
        (ModuleKind.SHARED_EXPERT_GATE, "high", "the shared expert's gate is quantized"),
        (ModuleKind.EMBEDDINGS, "raised", "the embeddings are quantized"),
        (ModuleKind.VISION, "raised", "the vision tower is quantized"),
    )
    for kind, grade, words in parts:
        if quantized(kind):
            yield grade, words
    if low and quantized(ModuleKind.LM_HEAD):
        yield "raised", f"lm_head is {width}: the choice of each token goes through it"
    if low and quantized(ModuleKind.SHARED_EXPERT):
        yield "raised", f"the shared experts are {width}: every token goes through them"
    if low and quantization.group_size is not None and (quantization.group_size > 128 or quantization.group_size < 0):
        size = "a whole column shares" if quantization.group_size < 0 else f"{quantization.group_size} weights share"
        yield "raised", f"{size} one scale (128 or less is usual at {bits} bits)"
    if quantization.method == "gptq" and quantization.symmetric is False:
        yield "raised", "asymmetric GPTQ: the engine runs it without Marlin, in float16 only, and without experts"
    if low and not facts.tensor_dtypes:
        yield "raised", "its tensors could not be looked at, so what is quantized is not known"


def record_sentence(family: str, record: Sequence[Reported], facts: ModelFacts) -> str:
    """Say what is on record about the checkpoints of a family, and whether anything is about this one."""
    own = next((one for one in record if facts.repo and one.repo.lower() == facts.repo.lower()), None)
    words = [
        f"{len(found)} {verdict} ({', '.join(one.repo for one in found)})"
        for verdict in ("broken", "mixed", "clean")
        if (found := [one for one in record if one.verdict == verdict])
    ]
    sentence = f"of the {family} checkpoints on record, {'; '.join(words)}" if words else f"no {family} report"
    if own is None or own.verdict == "untested":
        return f"{sentence}; nobody reports on this one"
    return sentence
