"""What is wrong with a checkpoint, as its headers and config show it: parts that are missing or will not be found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seatrial.engines.sglang.checkpoint_modules import (
    METHOD_WEIGHTS,
    CheckpointModule,
    engine_name,
    expects_quantized,
    layer_number,
    missing_parts,
    short_names,
)
from seatrial.engines.sglang.module_kinds import ModuleKind
from seatrial.facts.model import ModelFacts
from seatrial.findings import Finding, Level
from seatrial.store.scale_values import ScaleReading

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "tiktoken.model")
GARBAGE = "the engine passes over them with “not found in params_dict”, and answers are garbage"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What can be read of a checkpoint without its weights.

    Attributes:
        facts: from its config and headers.
        files: names of its files.
        scales: what its scales hold, where the files are local; None where they were not read.
        problems: findings of whoever read it (headers that can't be read, shards that are missing).
    """

    facts: ModelFacts
    files: frozenset[str]
    scales: tuple[ScaleReading, ...] | None = None
    problems: tuple[Finding, ...] = ()


def findings_of(checkpoint: Checkpoint, modules: Mapping[str, CheckpointModule]) -> Iterator[Finding]:
    """List everything that is wrong with a checkpoint."""
    facts = checkpoint.facts
    yield from checkpoint.problems
    yield from _method(facts, modules)
    yield from _homes(facts, modules)
    yield from _parts(modules)
    yield from _layers(facts, modules)
    yield from _scales(checkpoint.scales)
    yield from _beside(checkpoint)


def _method(facts: ModelFacts, modules: Mapping[str, CheckpointModule]) -> Iterator[Finding]:
    """Compare what the config says with what the tensors are."""
    quantized = [module for module in modules.values() if module.quantized]
    quantization = facts.quantization
    if not modules:
        return
    if quantization is None and quantized:
        names = some(short_names(module.name for module in quantized))
        message = f"the tensors of {names} are quantized, and its config says nothing of quantization: {GARBAGE}"
        yield Finding(Level.ERROR, "quantization-undeclared", message, "Is config.json that of the unquantized model?")
    if quantization is None:
        return
    if not quantized:
        message = f"its config says {quantization.method}, and no tensor is quantized"
        yield Finding(Level.ERROR, "quantization-missing", message, "Is config.json that of another version?")
    wanted = METHOD_WEIGHTS.get(quantization.method)
    others = [
        module
        for module in quantized
        if wanted is not None and not module.parts & set(wanted) and module.kind is not ModuleKind.DRAFT
    ]
    if others and wanted:
        parts = some(sorted({part for module in others for part in module.parts}))
        message = (
            f"{quantization.method} looks for {' or '.join(wanted)}, and {len(others)} modules have {parts}: {GARBAGE}"
        )
        yield Finding(Level.ERROR, "format-mismatch", message, "The config is that of another quantization method.")


def _homes(facts: ModelFacts, modules: Mapping[str, CheckpointModule]) -> Iterator[Finding]:
    """Find modules that are stored in another way than the engine makes them."""
    quantization = facts.quantization
    groups: dict[str, list[CheckpointModule]] = {}
    for module in modules.values():
        groups.setdefault(engine_name(module.name), []).append(module)
    mixed, surplus, lacking = [], [], []
    for name, shards in groups.items():
        kind = shards[0].kind
        states = _states(shards)
        if quantization is None or not states or kind is ModuleKind.DRAFT:
            continue
        if len(states) > 1:
            mixed.append(name)
            continue
        expected = expects_quantized(name, kind, facts)
        if expected is None:
            continue
        if True in states and not expected:
            surplus.append(name)
        elif False in states and expected:
            lacking.append(name)
    method = quantization.method if quantization else ""
    if mixed:
        message = f"{len(mixed)} fused modules are quantized in part: {some(short_names(mixed))}"
        advice = "The engine loads all shards of a fused module in one precision: it refuses, or loads garbage."
        yield Finding(Level.ERROR, "fused-precision-mixed", message, advice)
    for names, id_, word, other in (
        (surplus, "quantized-where-plain", "quantized", "plain"),
        (lacking, "plain-where-quantized", "plain", "quantized"),
    ):
        if names:
            tail = "qweight" if id_ == "quantized-where-plain" and method in ("awq", "gptq", "auto-round") else "weight"
            message = (
                f"{len(names)} modules are stored {word} where the engine makes them {other} "
                f"({some(short_names(names))}): {GARBAGE} (e.g. Parameter {names[0]}.{tail})"
            )
            yield Finding(Level.ERROR, id_, message, _exclusion_advice(facts, names, id_))


def _states(shards: Sequence[CheckpointModule]) -> set[bool]:
    """Say whether the shards of one of the engine's modules are quantized; both where they differ.

    Experts may lie in one tensor for all of them, with their scales as tensors beside it: then one that is quantized
    says it for all.
    """
    weights = [shard for shard in shards if shard.dtype]
    if weights and weights[0].kind is ModuleKind.EXPERTS:
        single = [shard for shard in weights if re.search(r"\.experts\.\d+\.", shard.name)]
        if not single:
            return {any(shard.quantized for shard in weights)}
        weights = single
    return {shard.quantized for shard in weights}


def _exclusion_advice(facts: ModelFacts, names: Sequence[str], id_: str) -> str:
    """Say why the config's list of exclusions does not do what its author meant, where that can be seen."""
    quantization = facts.quantization
    if quantization is None:
        return ""
    if id_ == "plain-where-quantized" and quantization.method == "awq":
        tails = {name.rpartition(".")[2] for name in names}
        if "in_proj_ba" in tails or "qkv_proj" in tails or "gate_up_proj" in tails or "in_proj_qkvz" in tails:
            fused = some(sorted(tails))
            return (
                f"AWQ's modules_to_not_convert is matched as a plain part of the engine's fused name: {fused} must be "
                "in it by that name. Add it to config.json, or take another checkpoint."
            )
    if id_ == "plain-where-quantized":
        return "Its config does not leave these out as the engine reads it. Add them there, or take another checkpoint."
    if names[0] == "lm_head":
        return "Its config does not say `lm_head: true`. Add it, or take another checkpoint."
    return "Take another checkpoint: the engine has no quantized form of these."


def _parts(modules: Mapping[str, CheckpointModule]) -> Iterator[Finding]:
    lacking = {name: parts for name, module in modules.items() if (parts := missing_parts(module))}
    if lacking:
        missing = some(sorted({part for found in lacking.values() for part in found}))
        message = f"{len(lacking)} quantized modules have no {missing}: {some(short_names(lacking))}"
        yield Finding(Level.ERROR, "scales-missing", message, "A download that is not whole, or a broken export.")


def _layers(facts: ModelFacts, modules: Mapping[str, CheckpointModule]) -> Iterator[Finding]:
    """Find layers that lack a module which most layers of their kind have, and layers that are not there."""
    held: dict[int, set[str]] = {}
    for name, module in modules.items():
        number = layer_number(name)
        if number is None or module.kind in (ModuleKind.VISION, ModuleKind.DRAFT):
            continue
        held.setdefault(number, set()).add(re.sub(r"^.*?\.(?:layers|h|blocks)\.\d+\.", "", name))
    if not held:
        return
    absent = [number for number in range(len(facts.layers)) if number not in held]
    if absent:
        message = f"layers {some([str(number) for number in absent])} of {len(facts.layers)} have no tensors"
        yield Finding(Level.ERROR, "layers-missing", message, "A shard is missing, or the config is of another model.")
    lacking: list[str] = []
    for group in _alike(facts, held):
        counts = Counter(name for number in group for name in held[number])
        usual = {name for name, count in counts.items() if count > len(group) / 2}
        lacking += [f"layers.{number}.{name}" for number in group for name in sorted(usual - held[number])]
    if lacking:
        message = f"{len(lacking)} modules are missing that the other layers have: {some(lacking)}"
        yield Finding(Level.ERROR, "modules-missing", message, "The engine leaves such weights uninitialised.")
    if not facts.tied_embeddings and not any(module.kind is ModuleKind.LM_HEAD for module in modules.values()):
        message = "there is no lm_head, and the config does not tie it to the embedding"
        yield Finding(Level.WARNING, "lm-head-missing", message, "Some architectures tie it all the same: prove it.")


def _alike(facts: ModelFacts, held: Mapping[int, set[str]]) -> Iterator[list[int]]:
    """Group the layers that should have the same modules."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number in sorted(held):
        if number < len(facts.layers):
            follows = facts.feed_forward[number] if number < len(facts.feed_forward) else None
            groups.setdefault((facts.layers[number], follows), []).append(number)
    yield from (group for group in groups.values() if len(group) > 2)


def _scales(readings: tuple[ScaleReading, ...] | None) -> Iterator[Finding]:
    """Say what is wrong with the values of scales."""
    for id_, level, word, advice in (
        ("scales-nan", Level.ERROR, "NaN or infinite", "One such scale makes whole answers NaN."),
        ("scales-absurd", Level.ERROR, "absurdly large", "No weight of a language model needs them: a broken export."),
        ("scales-zero", Level.WARNING, "zero", "Their weights are all zero. A few may be meant, many are not."),
    ):
        found = [(reading, count) for reading in readings or () if (count := getattr(reading, id_[7:]))]
        if found:
            count = sum(number for _, number in found)
            of = sum(reading.values for reading, _ in found)
            names = some([reading.name for reading, _ in found])
            message = f"{count:,} of {of:,} scales in {len(found)} tensors are {word}: {names}"
            yield Finding(level, id_, message, advice)
    constant = [reading.name for reading in readings or () if reading.constant]
    if constant:
        message = f"all scales are the same number in {len(constant)} tensors: {some(constant)}"
        yield Finding(Level.WARNING, "scales-constant", message, "A placeholder that calibration never replaced?")


def _beside(checkpoint: Checkpoint) -> Iterator[Finding]:
    """Look at what stands beside the weights."""
    facts, files = checkpoint.facts, checkpoint.files
    if not files & set(TOKENIZERS):
        yield Finding(Level.ERROR, "tokenizer-missing", "there is no tokenizer", "Take it from the base model.")
    elif "tokenizer_config.json" not in files:
        message = "there is no tokenizer_config.json: special tokens and the template may be unknown"
        yield Finding(Level.WARNING, "tokenizer-config-missing", message, "Take it from the base model.")
    template = facts.chat_template
    if template is None:
        message = "there is no chat template: chat requests fail, or are put together wrongly"
        yield Finding(
            Level.WARNING, "chat-template-missing", message, "Give one with --chat-template, or a base model."
        )
    else:
        if not template.tools:
            message = "its chat template knows no tools: offered tools never reach the model"
            yield Finding(Level.WARNING, "chat-template-without-tools", message, "Tool calling can't work with it.")
        if not template.reasoning:
            message = "its chat template knows no place for reasoning"
            yield Finding(Level.NOTE, "chat-template-without-thinking", message)
    if "generation_config.json" not in files or not facts.generation:
        message = "there is no generation_config.json: the engine falls back to its own sampling"
        yield Finding(Level.NOTE, "generation-config-missing", message, "Send the model card's sampling with requests.")
    code = sorted(name for name in files if name.endswith(".py"))
    if code:
        message = f"the repository brings code of its own: {some(code)}"
        yield Finding(Level.NOTE, "own-code", message, "It is run only with trust_remote_code.")
    pickles = sorted(name for name in files if name.endswith((".bin", ".pt", ".pth", ".ckpt")))
    if pickles:
        message = f"it has weights in a format that may run code: {some(pickles)}"
        yield Finding(Level.NOTE, "pickles", message, "They are not loaded.")


def some(names: Sequence[str]) -> str:
    """Name a few, and say how many more there are."""
    rest = len(names) - 3
    return ", ".join(names[:3]) + (f" and {rest} more" if rest > 0 else "")
