"""The words that rules may use: facts by name, made from the stack, the model, the host and the settings so far. Pure.

None means that it is unknown. What is known to be absent is the word `none`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from seatrial.engines.sglang.quantization import Kernel, kernel_for
from seatrial.facts.families import family_template
from seatrial.facts.host import HostFacts
from seatrial.facts.model import LayerKind, ModelFacts
from seatrial.planning.conditions import Fact
from seatrial.planning.setting import Value

NONE = "none"

VOCABULARY: Mapping[str, str] = {
    "stack.model": "repository or folder that is served",
    "stack.revision": "its revision, as the stack says it",
    "stack.served_name": "the name that clients send",
    "stack.context_length": "longest request in tokens: the stack's, else the model's",
    "stack.tensor_parallel": "GPUs that share each layer: the stack's, else all of the host's",
    "stack.host": "address that the server is reached at",
    "stack.port": "published port",
    "stack.api_key": "whether an API key is asked for",
    "stack.over_long_input": "reject or truncate",
    "stack.trust_remote_code": "whether the repository's Python code may run",
    "stack.debug": "whether requests are logged",
    "runtime.container": "whether the engine runs in a container",
    "runtime.non_root": "whether that container runs as the owner of the stack, not as root",
    "runtime.host_network": "whether that container uses the host's network",
    "model.type": "model_type of the config's text part",
    "model.architecture": "first of its architectures",
    "model.dtype": "dtype of the weights that are not quantized",
    "model.context_length": "tokens that its config declares",
    "model.mixer": "kind of its recurrent layers, or none",
    "model.layer_count": "decoder layers",
    "model.attention_layers": "layers that keep keys and values for each token",
    "model.experts": "whether it is a mixture of experts",
    "model.multimodal": "whether it has a vision tower",
    "model.reasons": "whether its chat template has a place for reasoning",
    "model.tools": "whether its chat template knows tools",
    "model.tool_call_style": "how its chat template writes a call",
    "model.quantization": "quantization method of its config, or none",
    "model.quantization.kernel": "what computes the quantized layers here: marlin, fp8, plain, none",
    "model.quantization.dtypes": "the one dtype that this kernel computes in, or any",
    "host.gpus": "how many GPUs",
    "host.gpu_memory_mib": "memory of the smallest GPU",
    "host.compute_capability": "of the oldest GPU, e.g. [8, 9]",
    "host.peer_access": "whether every GPU reads every other's memory",
    "host.nvlink": "whether NVLink joins every pair",
    "effective.dtype": "what the model computes in: --dtype, else the checkpoint's",
    "effective.tensor_parallel": "GPUs that share each layer: --tp-size, else 1",
    "effective.context_length": "longest request: --context-length, else the model's",
}
"""Every name with its meaning. `given.NAME` is beside them: what was given for a flag or variable, or `none`."""

MIXERS = {
    LayerKind.GATED_DELTA_NET: "gated-delta-net",
    LayerKind.MAMBA2: "mamba2",
    LayerKind.KIMI_DELTA: "kimi-delta",
    LayerKind.LIGHTNING: "lightning",
}

DTYPES = {"half": "float16", "float": "float32"}


@dataclass(frozen=True, slots=True)
class Request:
    """What the stack asks for, in the words of the rules. None where it leaves the choice open.

    Attributes:
        model: repository or folder.
        revision: branch, tag or commit.
        served_name: the name that clients send.
        context_length: tokens.
        tensor_parallel: GPUs that share each layer.
        host: address that the server is reached at.
        port: published port.
        api_key: whether a key is asked for.
        over_long_input: reject or truncate.
        trust_remote_code: whether the repository's code may run.
        debug: whether requests are logged.
        container: whether the engine runs in a container.
        host_network: whether that container uses the host's network.
        non_root: whether it runs as the owner of the stack.
    """

    model: str
    revision: str | None = None
    served_name: str | None = None
    context_length: int | None = None
    tensor_parallel: int | None = None
    host: str = "127.0.0.1"
    port: int = 30_000
    api_key: bool = False
    over_long_input: str = "reject"
    trust_remote_code: bool = False
    debug: bool = False
    container: bool = True
    host_network: bool = False
    non_root: bool = False


class Facts(Mapping[str, Fact]):
    """Facts by name: fixed ones, what the settings so far make of them, and `given.NAME` for what was given.

    `given` holds no decided settings: else two rules that ask for each other's setting would hold each other up.
    """

    def __init__(
        self,
        fixed: Mapping[str, Fact],
        settings: Mapping[str, Value],
        model: ModelFacts | None,
        given: Mapping[str, Value],
    ) -> None:
        self._given = given
        self._facts = {**fixed, **_effective(settings, fixed, model)}

    def __getitem__(self, name: str) -> Fact:
        if name.startswith("given."):
            value = self._given.get(name.removeprefix("given."), NONE)
            return str(value) if isinstance(value, tuple) else value
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


def fixed_facts(request: Request, model: ModelFacts | None, host: HostFacts | None) -> dict[str, Fact]:
    """Name everything that does not depend on the settings."""
    return {**_request_facts(request, model, host), **_model_facts(model), **_host_facts(host)}


def kernel_here(settings: Mapping[str, Value], model: ModelFacts | None, host: HostFacts | None) -> Kernel | None:
    """Find what computes the quantized layers; None where it can't be told."""
    if model is None:
        return None
    requested = settings.get("--quantization")
    return kernel_for(
        model,
        requested=None if requested is None else str(requested),
        capability=host.compute_capability if host else None,
    )


def _request_facts(request: Request, model: ModelFacts | None, host: HostFacts | None) -> dict[str, Fact]:
    gpus = host.gpu_count if host else None
    return {
        "stack.model": request.model,
        "stack.revision": request.revision or NONE,
        "stack.served_name": request.served_name or NONE,
        "stack.context_length": request.context_length or (model.context_length if model else None),
        "stack.tensor_parallel": request.tensor_parallel or gpus or None,
        "stack.host": request.host,
        "stack.port": request.port,
        "stack.api_key": request.api_key,
        "stack.over_long_input": request.over_long_input,
        "stack.trust_remote_code": request.trust_remote_code,
        "stack.debug": request.debug,
        "runtime.container": request.container,
        "runtime.non_root": request.non_root,
        "runtime.host_network": request.host_network,
    }


def _model_facts(model: ModelFacts | None) -> dict[str, Fact]:
    if model is None:
        return dict.fromkeys(name for name in VOCABULARY if name.startswith("model."))
    template = model.chat_template or family_template(model.model_type)
    recurrent = [MIXERS[layer] for layer in model.layers if layer in MIXERS]
    return {
        "model.type": model.model_type,
        "model.architecture": model.architecture,
        "model.dtype": model.dtype,
        "model.context_length": model.context_length,
        "model.mixer": recurrent[0] if recurrent else NONE,
        "model.layer_count": len(model.layers),
        "model.attention_layers": model.count(
            LayerKind.FULL_ATTENTION, LayerKind.SLIDING_ATTENTION, LayerKind.LATENT_ATTENTION
        ),
        "model.experts": model.experts is not None,
        "model.multimodal": model.multimodal,
        "model.reasons": template.reasoning if template else None,
        "model.tools": template.tools if template else None,
        "model.tool_call_style": (template.tool_call_style or NONE) if template else None,
        "model.quantization": model.quantization.method if model.quantization else NONE,
    }


def _host_facts(host: HostFacts | None) -> dict[str, Fact]:
    gpus = host.gpus if host else None
    return {
        "host.gpus": None if gpus is None else len(gpus),
        "host.gpu_memory_mib": min((gpu.memory_mib for gpu in gpus), default=None) if gpus else None,
        "host.compute_capability": host.compute_capability if host else None,
        "host.peer_access": host.peer_access if host else None,
        "host.nvlink": host.nvlink if host else None,
    }


def _effective(settings: Mapping[str, Value], fixed: Mapping[str, Fact], model: ModelFacts | None) -> dict[str, Fact]:
    """Say what the engine would make of the settings so far."""
    dtype = str(settings.get("--dtype", "auto"))
    if dtype == "auto":
        # float32 checkpoints are served in float16 (0.5.16, model_config.py:1600-1640).
        dtype = "float16" if model and model.dtype == "float32" else model.dtype if model else ""
    capability = fixed["host.compute_capability"]
    requested = settings.get("--quantization")
    kernel = None
    if model is not None:
        kernel = kernel_for(
            model,
            requested=None if requested is None else str(requested),
            capability=capability if isinstance(capability, tuple) else None,  # type: ignore[arg-type]
        )
    return {
        "model.quantization.kernel": kernel.kernel if kernel else None,
        "model.quantization.dtypes": (kernel.dtypes[0] if len(kernel.dtypes) == 1 else "any") if kernel else None,
        "effective.dtype": DTYPES.get(dtype, dtype) or None,
        "effective.tensor_parallel": _number(settings.get("--tp-size", 1)),
        "effective.context_length": _number(settings.get("--context-length", fixed["model.context_length"])),
    }


def _number(value: Fact | Value) -> Fact:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
