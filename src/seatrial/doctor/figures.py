"""Figures: what a log and a plan say about memory and settings, and what they suggest. Pure.

A figure is known by its name; causes and fixes of signatures hold the names in braces. GB in an SGLang log is GiB.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from seatrial.doctor.model import Level

FIGURE_WORDS = (
    b"server_args",
    b"avail",
    b"allocated",
    b"allocate",
    b"max_total_num_tokens",
    b"capacity",
    b"max_mamba_cache_size",
    b"mem_fraction_static",
    b"mamba_cache_per_req",
)

SETTINGS = (
    "model_path",
    "served_model_name",
    "mem_fraction_static",
    "context_length",
    "tp_size",
    "dp_size",
    "pp_size",
    "dtype",
    "quantization",
    "kv_cache_dtype",
    "max_running_requests",
    "max_total_tokens",
    "max_mamba_cache_size",
    "mamba_full_memory_ratio",
    "mamba_ssm_dtype",
    "chunked_prefill_size",
    "cuda_graph_max_bs",
    "cuda_graph_max_bs_decode",
    "attention_backend",
    "speculative_algorithm",
    "port",
    "device",
    "watchdog_timeout",
    "version",
)
"""Fields of `server_args=ServerArgs(…)` that are kept; keys and tokens are not among them."""

_SETTING = re.compile(r"\b(" + "|".join(SETTINGS) + r")=('[^']{0,300}'|[\w.+-]{1,60})")
_UNITS = {
    "MiB": 1 / 1024,
    "GiB": 1.0,
    "KiB": 1 / 1024**2,
    "GB": 1.0,
    "MB": 1 / 1024,
    "TiB": 1024.0,
    "bytes": 1 / 1024**3,
}

_LINES: tuple[tuple[re.Pattern[str], Mapping[str, str]], ...] = (
    (re.compile(r"Load weight begin\. avail mem=(?P<before_weights_gib>-?[\d.]+)"), {"before_weights_gib": "min"}),
    (
        re.compile(
            r"Load weight end\..*?avail mem=(?P<after_weights_gib>-?[\d.]+)(?:.*?mem usage=(?P<weights_gib>-?[\d.]+))?"
        ),
        {"after_weights_gib": "min", "weights_gib": "max"},
    ),
    (re.compile(r"Memory pool end\. avail mem=(?P<after_pools_gib>-?[\d.]+)"), {"after_pools_gib": "min"}),
    (re.compile(r"#tokens: (?P<kv_cache_tokens>\d+), "), {"kv_cache_tokens": "min"}),
    (
        re.compile(r"max_mamba_cache_size=(?P<mamba_slots>-?\d+), mamba_ratio=(?P<slots_per_request>\d+)"),
        {"mamba_slots": "min", "slots_per_request": "last"},
    ),
    (re.compile(r"total_rest_memory=(?P<rest_gib>-?[\d.]+) GB"), {"rest_gib": "min"}),
    (re.compile(r"mamba_cache_per_req=(?P<state_mib_per_slot>[\d.]+) MB"), {"state_mib_per_slot": "last"}),
    (
        re.compile(r"max_total_num_tokens=(?P<kv_cache_tokens>\d+).*?context_len=(?P<served_context>\d+)"),
        {"kv_cache_tokens": "last", "served_context": "last"},
    ),
    (
        re.compile(r"mem_fraction_static=(?P<mem_fraction_static>0?\.\d+|1\.0)"),
        {"mem_fraction_static": "last"},
    ),
)
_WANTED = re.compile(r"Tried to allocate (?P<amount>[\d.]+) (?P<unit>[KMGT]iB|bytes)")
_CAPACITY = re.compile(
    r"total capacity of (?P<amount>[\d.]+) (?P<unit>[MGT]iB)"
    r"(?: of which (?P<free>[\d.]+) (?P<funit>[KMGT]iB|bytes) is free)?"
)

LEAST_SLACK_GIB = 1.0
"""What must stay free after the pools, at the least: 0.4 to 0.5 GiB of attention workspace, one chunk's activations."""
SLACK_STEP = 0.01
MOST_FRACTION = 0.95


def read_figures(text: str, figures: dict[str, Any]) -> None:
    """Take the figures of one line; several workers' are folded to the worst."""
    if "server_args=" in text:
        for name, value in _SETTING.findall(text):
            plain = _plain(value.strip("'"))
            if plain is not None:
                figures[name] = plain
    for pattern, rules in _LINES:
        if match := pattern.search(text):
            for name, rule in rules.items():
                if (found := _number(match[name])) is not None:
                    figures[name] = _fold(rule, figures.get(name), found)
    if match := _WANTED.search(text):
        figures["wanted_gib"] = round(float(match["amount"]) * _UNITS[match["unit"]], 3)
        figures["wanted"] = f"{match['amount']} {match['unit']}"
    if match := _CAPACITY.search(text):
        figures["gpu_gib"] = round(float(match["amount"]) * _UNITS[match["unit"]], 2)
        if match["free"]:
            figures["free_gib"] = round(float(match["free"]) * _UNITS[match["funit"]], 3)


def context_figures(context: Mapping[str, Any] | None) -> dict[str, Any]:
    """Take the figures of a plan: `plan_document`'s shape, or `{"settings": {flag: value}, "memory": {…}, …}`.

    What is missing or of another shape is left out.
    """
    figures: dict[str, Any] = {}
    if not isinstance(context, Mapping):
        return figures
    for flag, value in _settings(context.get("settings")):
        name = flag.lstrip("-").replace("-", "_")
        figures[name] = value
    memory = context.get("memory")
    if isinstance(memory, Mapping):
        for name in (
            "weights_gib",
            "mem_fraction_static",
            "context_length",
            "slots_per_request",
            "max_running_requests",
        ):
            if isinstance(memory.get(name), int | float):
                figures.setdefault(name, memory[name])
        for name in ("kv_cache_tokens", "mamba_slots", "weights_gib"):
            if isinstance(memory.get(name), int | float):
                figures[f"planned_{name}"] = memory[name]
    host = context.get("host")
    gpus = host.get("gpus") if isinstance(host, Mapping) else None
    if isinstance(gpus, list | tuple) and gpus and isinstance(gpus[0], Mapping):
        sizes = [size for gpu in gpus if isinstance(gpu, Mapping) and isinstance(size := gpu.get("memory_mib"), int)]
        if len(sizes) == len(gpus):
            figures["gpu_gib"] = round(min(sizes) / 1024, 1)
        if isinstance(gpus[0].get("name"), str):
            figures["gpu"] = gpus[0]["name"]
        figures["gpus"] = len(gpus)
    engine = context.get("engine")
    if isinstance(engine, Mapping):
        for name in ("version", "image"):
            if isinstance(engine.get(name), str):
                figures[f"engine_{name}"] = engine[name]
    return figures


def suggest(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the figures suggest: what `--mem-fraction-static` should be, and whether the weights fit at all.

    With `pre` free before the weights, `avail` after them and the fraction f, the pools get `avail - pre * (1 - f)`
    (SGLang 0.5.16, kv_cache_configurator.py:1527-1561). A hybrid pool gives r / (1 + r) of that to state slots.
    """
    made: dict[str, Any] = {}
    pre, avail = _get(figures, "before_weights_gib", "gpu_gib"), _get(figures, "after_weights_gib")
    fraction = _get(figures, "mem_fraction_static")
    if pre is None or avail is None or pre <= 0:
        return made
    least = 1 - avail / pre
    made["least_fraction"] = f"{_up(least):.2f}"
    slack = LEAST_SLACK_GIB
    most = min(MOST_FRACTION, 1 - slack / pre)
    needed = least + _state_share(figures, pre, avail, fraction)
    if fraction is not None:
        raised = max(_up(needed + SLACK_STEP), _up(fraction + SLACK_STEP))
        made["weights_fit"] = raised <= most
        if raised <= most:
            made["fraction_raised"] = f"{raised:.2f}"
        wanted, free = _get(figures, "wanted_gib"), _get(figures, "free_gib")
        if wanted is not None:
            missing = max(wanted - (free or 0.0), 0.0) + 0.5
            lowered = _down(fraction - max(missing / pre, 2 * SLACK_STEP))
            if lowered > least + SLACK_STEP:
                made["fraction_lowered"] = f"{lowered:.2f}"
            else:
                made["cannot_lower"] = True
    return made


def versions_in(figures: Mapping[str, Any]) -> str | None:
    """Name the engine's version, where the log or the plan say it."""
    for name in ("engine_version", "version"):
        if isinstance(figures.get(name), str) and re.match(r"\d+\.\d+", figures[name]):
            return str(figures[name])
    image = figures.get("engine_image")
    if isinstance(image, str) and (match := re.search(r":v?(\d+\.\d+(?:\.\d+)?(?:\.?(?:post|rc)\d+)?)", image)):
        return match[1]
    return None


LEVEL_WORDS = {
    Level.FATAL: "fatal",
    Level.FATAL_AT_FIRST_REQUEST: "fatal at the first request",
    Level.FATAL_UNDER_LOAD: "fatal under load",
    Level.GARBAGE_PREDICTOR: "garbage predictor",
    Level.HANG: "hang",
    Level.REQUEST_ERROR: "a request's error",
    Level.SLOW: "slow",
    Level.WARNING: "warning",
    Level.BENIGN: "benign",
}


def _state_share(figures: Mapping[str, Any], pre: float, avail: float, fraction: float | None) -> float:
    """Say what part of `pre` one request's state slots need beside their KV share; 0 without a hybrid pool.

    Only the number of slots that fitted is known: each takes at most budget / slots.
    """
    slots, ratio = _get(figures, "mamba_slots"), _get(figures, "slots_per_request")
    share = _get(figures, "mamba_full_memory_ratio") or 0.9
    per_slot = _get(figures, "state_mib_per_slot")
    if per_slot is not None:
        rest = (ratio or 5) * per_slot / 1024 * (1 + share) / share
    elif slots and ratio and slots > 0 and fraction is not None:
        rest = max(avail - pre * (1 - fraction), 0.0) * ratio / slots
    else:
        return 0.0
    return rest / pre


def _settings(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(str(name), found) for name, found in value.items()]
    if isinstance(value, list | tuple):
        rows = [row for row in value if isinstance(row, Mapping)]
        pairs = [(row.get("flag") or row.get("variable") or row.get("name"), row.get("value")) for row in rows]
        return [(name, found) for name, found in pairs if isinstance(name, str)]
    return []


def _get(figures: Mapping[str, Any], *names: str) -> float | None:
    for name in names:
        value = figures.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    return None


def _plain(text: str) -> Any:
    if text in ("None", ""):
        return None
    number = _number(text)
    return text if number is None else number


def _number(text: str | None) -> int | float | None:
    if text is None or len(text) > 40:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _fold(rule: str, old: Any, new: float) -> float:
    if not isinstance(old, int | float) or rule == "last":
        return new
    return min(old, new) if rule == "min" else max(old, new)


def _up(value: float) -> float:
    return math.ceil(round(value, 6) * 100) / 100


def _down(value: float) -> float:
    return math.floor(round(value, 6) * 100) / 100
