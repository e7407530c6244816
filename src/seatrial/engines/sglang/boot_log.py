"""What a server said about its memory while it started: read from its log, or from the answer of `/server_info`.

Lines of SGLang 0.5.9 to 0.5.23 (srt/model_executor/model_runner.py, srt/mem_cache/memory_pool.py,
srt/mem_cache/kv_cache_configurator.py, srt/managers/scheduler.py). "GB" in them is GiB. Ranks write the same lines; the
least free memory counts, as it does for the engine.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from seatrial.errors import InputError


@dataclass(frozen=True, slots=True)
class BootRecord:
    """The figures of one boot; None where the log doesn't say. GiB, of the fullest rank.

    Attributes:
        begin_gib: free before the weights ("Load weight begin").
        end_gib: free after all weights, the draft's too ("Load weight end").
        weights_gib: what the weights took, the draft's too.
        draft_weights_gib: of it, the draft's.
        mamba_slots: state slots.
        conv_state_gib: convolution windows.
        ssm_state_gib: recurrent states.
        intermediate_gib: states kept for drafted tokens.
        kv_cache_tokens: tokens of the (full) KV pool.
        swa_cache_tokens: tokens of the sliding pool.
        kv_cache_gib: keys and values of the target's pools.
        draft_kv_cache_gib: keys and values of the draft's pool.
        kv_dtype: dtype of the KV cache, as torch names it.
        pools_end_gib: free once the pools are made.
        decode_graphs_gib: what capturing the decode graphs took.
        prefill_graphs_gib: what capturing the prefill graphs took.
        decode_graph_sizes: batch sizes that were captured.
        available_gib: free when the scheduler was ready.
        max_running_requests: of one scheduler.
        context_length: as the scheduler says.
        chunked_prefill_size: likewise.
        version: of the engine, where the text says it.
        settings: the resolved server arguments by their field names; secrets left out.
        errors: the errors of a boot that failed.
    """

    begin_gib: float | None = None
    end_gib: float | None = None
    weights_gib: float | None = None
    draft_weights_gib: float | None = None
    mamba_slots: int | None = None
    conv_state_gib: float | None = None
    ssm_state_gib: float | None = None
    intermediate_gib: float | None = None
    kv_cache_tokens: int | None = None
    swa_cache_tokens: int | None = None
    kv_cache_gib: float | None = None
    draft_kv_cache_gib: float | None = None
    kv_dtype: str | None = None
    pools_end_gib: float | None = None
    decode_graphs_gib: float | None = None
    prefill_graphs_gib: float | None = None
    decode_graph_sizes: tuple[int, ...] = ()
    available_gib: float | None = None
    max_running_requests: int | None = None
    context_length: int | None = None
    chunked_prefill_size: int | None = None
    version: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    errors: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing at all was found."""
        return self == BootRecord()


def read_boot_log(text: str, *, where: str = "the log") -> BootRecord:
    """Read a server's log, or the JSON answer of `/server_info`.

    Args:
        text: the log, of any length; lines that say nothing about memory are passed over. Only the last boot counts,
            where the log holds several.
        where: what errors name.

    Raises:
        InputError: the text says nothing about a server's memory.
    """
    stripped = text.lstrip()
    record = _from_json(stripped) if stripped.startswith("{") else _from_lines(_last_boot(text.splitlines()))
    if record.empty:
        raise InputError(
            "no line of an SGLang server's start was found",
            where=where,
            advice="It must hold lines like `KV Cache is allocated` or `max_total_num_tokens=`.",
        )
    return record


_GB = r"([\d.]+)\s*GB"
_PATTERNS = {
    "begin": re.compile(rf"Load weight begin\. avail mem={_GB}"),
    "end": re.compile(rf"Load weight end\..*?type=(\w+).*?avail mem={_GB}, mem usage={_GB}"),
    "mamba": re.compile(
        rf"Mamba Cache is allocated\. max_mamba_cache_size: (\d+), conv_state size: {_GB}, ssm_state size: {_GB}"
    ),
    "intermediate": re.compile(rf"intermediate_(?:ssm_state_cache|conv_window_cache) size: {_GB}"),
    "kv": re.compile(
        rf"KV Cache is allocated\. (?:dtype: (\S+), )?#tokens: (\d+), "
        rf"(?:K size: {_GB}, V size: {_GB}|KV size: {_GB})"
    ),
    "sliding": re.compile(r"full_layer_tokens=(\d+), swa_layer_tokens=(\d+)"),
    "pool_end": re.compile(rf"Memory pool end\. avail mem={_GB}"),
    "decode_begin": re.compile(r"Capture target decode CUDA graph begin\..*?bs=\[([\d, ]*)\]"),
    "decode_sizes": re.compile(r"Capture cuda graph bs \[([\d, ]*)\]"),
    "graph_end": re.compile(rf"Capture (?:target )?(decode |prefill |)(?:CUDA|cuda) graph end\..*?mem usage={_GB}"),
    "ready": re.compile(
        r"max_total_num_tokens=(\d+), chunked_prefill_size=(-?\d+), max_prefill_tokens=\d+, "
        r"max_running_requests=(\d+), context_len=(\d+)(?:, available_gpu_mem=([\d.]+) GB)?"
    ),
    "error": re.compile(
        r"^(?:.*? )?((?:RuntimeError|ValueError|torch\.\w*OutOfMemoryError|torch\.cuda\.OutOfMemoryError): .*)$"
    ),
}
_SECRETS = ("api_key", "admin_api_key", "ssl_keyfile_password", "hf_token")
_START = ("server_args=ServerArgs(", "Init torch distributed begin")


def _last_boot(lines: list[str]) -> list[str]:
    starts = [number for number, line in enumerate(lines) if _START[0] in line]
    if not starts:  # a log that was cut: every rank joins the group once a boot
        starts = [number for number, line in enumerate(lines) if _START[1] in line]
        starts = [number for number in starts if _rank(lines[number]) == _rank(lines[starts[0]])]
    return lines[starts[-1] :] if starts else lines


def _from_lines(lines: Iterable[str]) -> BootRecord:
    seen = _Seen()
    for line in lines:
        if len(line) > 20_000 and _START[0] not in line:
            continue
        seen.take(line)
    return seen.record()


class _Seen:
    """Collects figures line by line; ranks repeat lines, so the least free memory of a kind is kept."""

    def __init__(self) -> None:
        self.begins: list[tuple[str, float]] = []
        self.ends: list[tuple[str, float, float, str]] = []
        self.values: dict[str, object] = {}
        self.pools: list[tuple[str, str | None, int, float]] = []
        self.pool_ends: list[tuple[str, float]] = []
        self.settings: Mapping[str, object] = {}
        self.errors: list[str] = []

    def take(self, line: str) -> None:
        rank = _rank(line)
        for name, pattern in _PATTERNS.items():
            found = pattern.search(line)
            if found is not None and name in _TAKERS:
                _TAKERS[name](self, found, rank, line)
        if _START[0] in line:
            self.settings = _server_arguments(line)

    def record(self) -> BootRecord:
        loads: dict[str, list[float]] = {}  # a rank loads the target first, then what drafts for it
        for rank, _, used, _ in self.ends:
            loads.setdefault(rank, []).append(used)
        fullest = max(loads.values(), key=sum, default=[])
        begin = min((value for rank, value in self.begins if (rank, value) in _firsts(self.begins)), default=None)
        end = min((value for _, value in _lasts([(rank, free) for rank, free, _, _ in self.ends])), default=None)
        pools, draft = _target_pools([item for item in self.pools if item[0] == _first_rank(self.pools)])
        sliding = self.values.get("sliding")
        tokens = self.values.get("tokens") or (max((count for _, _, count, _ in pools), default=None))
        return BootRecord(
            begin_gib=begin,
            end_gib=end,
            weights_gib=round(sum(fullest), 2) if fullest else None,
            draft_weights_gib=round(sum(fullest[1:]), 2) if fullest[1:] else None,
            mamba_slots=_as_int(self.values.get("slots")),
            conv_state_gib=_as_float(self.values.get("conv")),
            ssm_state_gib=_as_float(self.values.get("ssm")),
            intermediate_gib=_as_float(self.values.get("intermediate")),
            kv_cache_tokens=_as_int(tokens),
            swa_cache_tokens=_as_int(sliding),
            kv_cache_gib=round(sum(size for *_, size in pools), 2) if pools else None,
            draft_kv_cache_gib=round(sum(size for *_, size in draft), 2) if draft else None,
            kv_dtype=next((dtype for _, dtype, _, _ in pools if dtype), None),
            pools_end_gib=min((value for _, value in _lasts(self.pool_ends)), default=None),
            decode_graphs_gib=_as_float(self.values.get("decode")),
            prefill_graphs_gib=_as_float(self.values.get("prefill")),
            decode_graph_sizes=tuple(value) if isinstance(value := self.values.get("sizes"), list) else (),
            available_gib=_as_float(self.values.get("available")),
            max_running_requests=_as_int(self.values.get("running")),
            context_length=_as_int(self.values.get("context")),
            chunked_prefill_size=_as_int(self.values.get("chunk")),
            settings=self.settings,
            errors=tuple(dict.fromkeys(self.errors)),
        )


def _take_begin(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del line
    seen.begins.append((rank, float(found[1])))


def _take_end(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del line
    seen.ends.append((rank, float(found[2]), float(found[3]), found[1]))


def _take_mamba(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del rank
    seen.values.setdefault("slots", int(found[1]))
    seen.values.setdefault("conv", float(found[2]))
    seen.values.setdefault("ssm", float(found[3]))
    extra = [float(size) for size in _PATTERNS["intermediate"].findall(line)]
    if extra:
        seen.values.setdefault("intermediate", round(sum(extra), 2))


def _take_kv(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del line
    size = float(found[5]) if found[5] else float(found[3]) + float(found[4])
    seen.pools.append((rank, found[1], int(found[2]), size))


def _take_sliding(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del rank, line
    seen.values["tokens"] = int(found[1])
    seen.values["sliding"] = int(found[2])


def _take_pool_end(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del line
    seen.pool_ends.append((rank, float(found[1])))


def _take_sizes(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del rank, line
    seen.values.setdefault("sizes", [int(size) for size in found[1].split(",") if size.strip()])


def _take_graph_end(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del rank, line
    seen.values.setdefault(found[1].strip() or "decode", float(found[2]))


def _take_ready(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del rank, line
    seen.values["tokens"] = int(found[1])
    seen.values["chunk"] = int(found[2])
    seen.values["running"] = int(found[3])
    seen.values["context"] = int(found[4])
    if found[5]:
        seen.values["available"] = float(found[5])


def _take_error(seen: _Seen, found: re.Match[str], rank: str, line: str) -> None:
    del rank, line
    seen.errors.append(found[1].strip())


_Taker = Callable[[_Seen, re.Match[str], str, str], None]
_TAKERS: Mapping[str, _Taker] = MappingProxyType(
    {
        "begin": _take_begin,
        "end": _take_end,
        "mamba": _take_mamba,
        "kv": _take_kv,
        "sliding": _take_sliding,
        "pool_end": _take_pool_end,
        "decode_begin": _take_sizes,
        "decode_sizes": _take_sizes,
        "graph_end": _take_graph_end,
        "ready": _take_ready,
        "error": _take_error,
    }
)


def _rank(line: str) -> str:
    """Say which rank wrote a line; empty where the line doesn't say."""
    head = line[: line.find("]") + 1] if "]" in line[:80] else ""
    return " ".join(re.findall(r"\b(?:TP|DP|PP|EP)\d+", head))


def _firsts(items: list[tuple[str, float]]) -> set[tuple[str, float]]:
    first: dict[str, float] = {}
    for rank, value in items:
        first.setdefault(rank, value)
    return set(first.items())


def _lasts(items: list[tuple[str, float]]) -> list[tuple[str, float]]:
    return list(dict(items).items())


def _first_rank(items: list[tuple[str, str | None, int, float]]) -> str:
    return items[0][0] if items else ""


def _target_pools(
    items: list[tuple[str, str | None, int, float]],
) -> tuple[list[tuple[str, str | None, int, float]], list[tuple[str, str | None, int, float]]]:
    """Part the target's pools from the draft's: that has as many tokens as an earlier one, and comes later."""
    target: list[tuple[str, str | None, int, float]] = []
    draft: list[tuple[str, str | None, int, float]] = []
    for item in items:
        (draft if any(item[2] == earlier[2] for earlier in target) else target).append(item)
    return target, draft


def _server_arguments(line: str) -> Mapping[str, object]:
    """Read `server_args=ServerArgs(name=value, ...)`; what is no plain value is left out, and so are secrets."""
    text = line[line.index(_START[0]) + len("server_args=") :]
    text = text[: text.rfind(")") + 1]
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _plain_arguments(text)
    if not isinstance(call, ast.Call):
        return {}
    found: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in _SECRETS:
            continue
        try:
            found[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            continue
    return found


def _plain_arguments(text: str) -> Mapping[str, object]:
    """Read simple values where the line holds something that is no Python (an object's own way to show itself)."""
    found: dict[str, object] = {}
    for name, value in re.findall(r"(\w+)=(None|True|False|-?\d+(?:\.\d+)?(?:e-?\d+)?|'[^']*')(?=[,)])", text):
        if name not in _SECRETS:
            found.setdefault(name, ast.literal_eval(value))
    return found


def _from_json(text: str) -> BootRecord:
    try:
        loaded = json.loads(text)
    except ValueError:
        return _from_lines(text.splitlines())
    if not isinstance(loaded, dict):
        return BootRecord()
    states = loaded.get("internal_states")
    state = states[0] if isinstance(states, list) and states and isinstance(states[0], dict) else {}
    usage = state.get("memory_usage")
    usage = usage if isinstance(usage, dict) else {}
    return BootRecord(
        kv_cache_tokens=_as_int(loaded.get("max_total_num_tokens") or usage.get("token_capacity")),
        weights_gib=_as_float(usage.get("weight")),
        kv_cache_gib=_as_float(usage.get("kvcache")),
        decode_graphs_gib=_as_float(usage.get("graph") or usage.get("cuda_graph")),
        max_running_requests=_as_int(state.get("effective_max_running_requests_per_dp")),
        context_length=_as_int(loaded.get("context_length")),
        chunked_prefill_size=_as_int(loaded.get("chunked_prefill_size")),
        mamba_slots=_as_int(loaded.get("max_mamba_cache_size")),
        version=str(loaded["version"]) if loaded.get("version") else None,
        settings={name: value for name, value in loaded.items() if name not in (*_SECRETS, "internal_states")},
    )


def _as_int(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _as_float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
