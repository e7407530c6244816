"""The stack file to begin with, for a model and a machine. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.stack.model import Engine, Model, Serve, Stack


@dataclass(frozen=True, slots=True)
class Example:
    """A model and a machine that go together.

    Attributes:
        name: the stack's name.
        model: repository.
        served_name: the name that clients send.
        gpus: as `--gpus` takes them.
        says: one sentence.
    """

    name: str
    model: str
    served_name: str
    gpus: str
    says: str


EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "two-4090": Example(
            "review",
            "QuantTrio/Qwen3.6-35B-A3B-AWQ",
            "qwen3.6-35b",
            "2x RTX 4090",
            "Merge-request review on two RTX 4090s: a 4-bit mixture of experts, split over both.",
        ),
        "one-h100": Example(
            "review",
            "Qwen/Qwen3.6-27B",
            "qwen3.6-27b",
            "1x H100",
            "Merge-request review on one H100: the dense model in 16 bit.",
        ),
    }
)


def initial_stack(
    name: str,
    model_name: str,
    *,
    served_name: str | None = None,
    image: str | None = None,
    model: ModelFacts | None = None,
    host: HostFacts | None = None,
    revision: str | None = None,
) -> Stack:
    """Make the stack to begin with: everything stated that a plan would otherwise take from the machine of that day."""
    return Stack(
        name=name,
        engine=Engine(image=image) if image else Engine(),
        model=Model(
            repo=model_name,
            revision=revision or (model.revision if model else None) or "main",
            served_name=served_name or short_name(model_name),
        ),
        serve=Serve(
            context_length=model.context_length if model else None,
            tensor_parallel=largest_split(model, host.gpu_count) if host and host.gpu_count else None,
        ),
    )


def largest_split(model: ModelFacts | None, gpus: int) -> int:
    """Count the GPUs that a model can be split over evenly, as many of them as are there.

    Query heads, and the heads of recurrent layers, must divide by it; key and value heads are copied where too few
    (SGLang 0.5.16, `model_config.py:get_num_kv_heads`).
    """
    if model is None:
        return gpus
    heads = [model.attention.heads] if model.attention else []
    heads += [model.latent_attention.heads] if model.latent_attention else []
    heads += [model.recurrent.key_heads, model.recurrent.value_heads] if model.recurrent else []
    return next(split for split in range(gpus, 0, -1) if all(count % split == 0 for count in heads))


def short_name(model_name: str) -> str:
    """Make the name that clients send from a repository's or folder's name."""
    return model_name.rstrip("/").rsplit("/", 1)[-1].lower()
