"""How a model is cut over the GPUs of one server. Pure values."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.engines.sglang.memory.options import MemoryOptions

EXPERT_SPANNING = ("deepep", "mooncake", "nixl", "mori", "ascend_fuseep", "flashinfer", "megamoe")
"""All-to-all backends with which the experts are spread over every GPU, whatever `--ep-size` says."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """Sizes of the groups that share the work.

    Attributes:
        tensor: GPUs that share each dense layer.
        attention: GPUs that share each attention layer (fewer with data-parallel attention).
        attention_data: attention groups, each with its own cache; 1 without data-parallel attention.
        expert: groups over which the experts are spread.
        pipeline: stages that share the layers.
        replicas: whole copies of the model, each on its own GPUs.
    """

    tensor: int = 1
    attention: int = 1
    attention_data: int = 1
    expert: int = 1
    pipeline: int = 1
    replicas: int = 1

    @property
    def expert_tensor(self) -> int:
        """GPUs that share one expert."""
        return max(1, self.tensor // self.expert)

    @property
    def gpus(self) -> int:
        """GPUs that the whole launch takes."""
        return self.tensor * self.pipeline * self.replicas

    @property
    def world(self) -> int:
        """GPUs of one copy of the model."""
        return self.tensor * self.pipeline

    @staticmethod
    def of(options: MemoryOptions) -> Parallel:
        """Read the groups from a launch's options."""
        attention_data = options.data_parallel if options.dp_attention else 1
        spanning = options.moe_a2a_backend in EXPERT_SPANNING
        return Parallel(
            tensor=options.tensor_parallel,
            attention=max(1, options.tensor_parallel // attention_data),
            attention_data=attention_data,
            expert=options.tensor_parallel if spanning else options.expert_parallel,
            pipeline=options.pipeline_parallel,
            replicas=1 if options.dp_attention else options.data_parallel,
        )


def kv_heads_per_gpu(kv_heads: int, parts: int) -> int:
    """Say how many key-value heads one GPU keeps: at least one, so heads are copied where there are fewer than GPUs."""
    return max(1, kv_heads // parts)


def indivisible(kv_heads: int, parts: int) -> bool:
    """Whether the heads can neither be dealt out evenly nor be copied evenly: the engine refuses that."""
    return kv_heads % parts != 0 if kv_heads >= parts else parts % kv_heads != 0
