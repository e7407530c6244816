"""Reads a quantized checkpoint without loading it: what is quantized, what the engine lacks, what that risks. Pure.

Rules and their grades are those of the project's notes on SGLang 0.5.16 (static reading of quantized checkpoints). A
static reading proves nothing about answers: only a proof on the running server does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from seatrial.engines.sglang.checkpoint_modules import checkpoint_modules
from seatrial.facts.reported import Reported, reported_in_family
from seatrial.findings import Finding, Level, by_weight
from seatrial.store.checkpoint_findings import Checkpoint, findings_of
from seatrial.store.checkpoint_risk import KindSummary, family_of, reasons, record_sentence, summaries

Risk = Literal["fatal", "high", "raised", "low"]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The statement about a checkpoint.

    Attributes:
        source: repository or folder.
        repo: `owner/name`, where known.
        revision: the commit, where known.
        architecture: of its config.
        method: how it is quantized; None where nothing is.
        bits: of a weight.
        group_size: weights that share a scale.
        symmetric: no zero points.
        format: of the method.
        kinds: its parts.
        tensors: how many.
        weight_bytes: of all tensors.
        template: what its chat template knows: `tools`, `thinking`.
        sampling: what its makers recommend, from generation_config.json.
        findings: the heaviest first.
        risk: fatal (it can't answer rightly), high, raised, or low.
        reasons: a sentence each.
        family: what it is a version of.
        on_record: what others report about the family.
    """

    source: str
    repo: str | None
    revision: str | None
    architecture: str
    method: str | None
    bits: int | None
    group_size: int | None
    symmetric: bool | None
    format: str | None
    kinds: tuple[KindSummary, ...]
    tensors: int
    weight_bytes: int
    template: Mapping[str, object]
    sampling: Mapping[str, object]
    findings: tuple[Finding, ...]
    risk: Risk
    reasons: tuple[str, ...]
    family: str
    on_record: tuple[Reported, ...] = ()


def inspect(checkpoint: Checkpoint) -> Inspection:
    """Read a checkpoint."""
    facts = checkpoint.facts
    modules = checkpoint_modules(facts.tensor_dtypes)
    findings = list(findings_of(checkpoint, modules))
    family = family_of(facts)
    record = reported_in_family(family) if family else ()
    kinds = tuple(summaries(modules.values()))
    graded = tuple(reasons(facts, {one.kind: one for one in kinds}))
    fatal = [finding for finding in findings if finding.level is Level.ERROR]
    quantization = facts.quantization
    risk: Risk = "fatal" if fatal else "high" if any(grade == "high" for grade, _ in graded) else "low"
    if risk == "low" and graded:
        risk = "raised"
    sentences = [finding.message for finding in fatal] + [text for _, text in graded]
    if quantization is not None and record:
        sentences.append(record_sentence(family, record, facts))
    return Inspection(
        facts.source,
        facts.repo,
        facts.revision,
        facts.architecture,
        quantization.method if quantization else None,
        quantization.bits if quantization else None,
        quantization.group_size if quantization else None,
        quantization.symmetric if quantization else None,
        quantization.format if quantization else None,
        kinds,
        len(facts.tensor_dtypes),
        sum(facts.tensor_bytes.values()),
        {
            "tools": facts.chat_template.tools if facts.chat_template else None,
            "tool_call_style": facts.chat_template.tool_call_style if facts.chat_template else None,
            "thinking": facts.chat_template.reasoning if facts.chat_template else None,
            "thinking_toggle": facts.chat_template.thinking_toggle if facts.chat_template else None,
        },
        {
            key: value
            for key, value in facts.generation.items()
            if key in ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "do_sample")
        },
        by_weight(findings),
        risk,
        tuple(sentences),
        family,
        record,
    )
