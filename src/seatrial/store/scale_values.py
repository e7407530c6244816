"""Looks into the scales of a quantized checkpoint's files: zeros, NaN, absurd numbers. Reads the scales, no weight.

Scales have 8 or 16 bits almost always, so a tensor of millions has few different values: the set of its bit patterns
is made in C, and only those are judged.
"""

from __future__ import annotations

import json
import math
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.engines.sglang.checkpoint_modules import split
from seatrial.errors import InputError

SCALES = frozenset({"scales", "weight_scale", "weight_scale_inv", "weight_scale_2", "input_scale"})
GLOBAL = frozenset({"weight_global_scale", "input_global_scale"})
"""Factors over whole tensors, which may be any size but zero."""
LARGEST = 1_000.0
"""A weight of a language model is seldom over 100; a scale is a part of that."""
ENOUGH_VALUES = 64
"""Fewer scales may well all be the same."""
CODES = {"F16": "e", "F32": "f", "F64": "d"}
SIZES = {"F16": 2, "BF16": 2, "F32": 4, "F64": 8, "F8_E4M3": 1, "F8_E8M0": 1, "U8": 1}


@dataclass(frozen=True, slots=True)
class ScaleReading:
    """What one tensor of scales holds.

    Attributes:
        name: the tensor.
        values: how many.
        zero: of them that are zero.
        nan: NaN or infinite.
        absurd: larger than any weight needs.
        constant: all the same, where there are many.
    """

    name: str
    values: int
    zero: int
    nan: int
    absurd: int
    constant: bool


def read_scales(path: Path, on_bytes: Callable[[int], None] = lambda _more: None) -> Iterator[ScaleReading]:
    """Read the scales of one safetensors file.

    Raises:
        InputError: the file is none, or ends too early.
    """
    try:
        with path.open("rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            header = json.loads(file.read(length))
            for name, entry in header.items():
                part = split(name)[1]
                if name == "__metadata__" or part not in SCALES | GLOBAL or entry["dtype"] not in SIZES:
                    continue
                start, end = entry["data_offsets"]
                file.seek(8 + length + start)
                data = file.read(end - start)
                if len(data) != end - start:
                    raise InputError(f"it ends within {name}", where=str(path))
                on_bytes(len(data))
                yield judge(name, entry["dtype"], data, bounded=part in SCALES)
    except OSError as error:
        raise InputError(f"can't be read ({error.strerror})", where=str(path)) from None
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise InputError(f"its header can't be read ({type(error).__name__})", where=str(path)) from None


def judge(name: str, dtype: str, data: bytes, *, bounded: bool = True) -> ScaleReading:
    """Judge the values of one tensor.

    Args:
        name: the tensor.
        dtype: safetensors' name of it.
        data: its content, little-endian.
        bounded: large values are absurd.
    """
    size = SIZES[dtype]
    whole: Any = memoryview(data)
    patterns = whole if size == 1 else whole.cast({2: "H", 4: "I", 8: "Q"}[size])
    different = set(patterns)
    bad: dict[int, str] = {}
    for pattern in different:
        word = _word(number(dtype, pattern), bounded=bounded)
        if word:
            bad[pattern] = word
    counts = Counter[str]()
    if bad:
        for pattern, count in Counter(patterns).items():
            if pattern in bad:
                counts[bad[pattern]] += count
    values = len(data) // size
    constant = len(different) == 1 and values >= ENOUGH_VALUES and not bad
    return ScaleReading(name, values, counts["zero"], counts["nan"], counts["absurd"], constant)


def number(dtype: str, pattern: int) -> float:
    """Turn a bit pattern into its number."""
    if dtype in CODES:
        code = CODES[dtype]
        return float(struct.unpack(f"<{code}", pattern.to_bytes(struct.calcsize(code), "little"))[0])
    if dtype == "BF16":
        return float(struct.unpack("<f", (pattern << 16).to_bytes(4, "little"))[0])
    if dtype == "F8_E4M3":
        return _e4m3(pattern)
    return math.nan if pattern == 0xFF else 2.0 ** (pattern - 127)  # E8M0, as MXFP4 stores its scales


def _e4m3(pattern: int) -> float:
    sign = -1.0 if pattern & 0x80 else 1.0
    exponent, fraction = (pattern >> 3) & 0xF, pattern & 0x7
    if exponent == 0xF and fraction == 0x7:
        return math.nan
    if exponent == 0:
        return sign * fraction * 2.0**-9
    return sign * (1 + fraction / 8) * 2.0 ** (exponent - 7)


def _word(value: float, *, bounded: bool) -> str:
    if not math.isfinite(value):
        return "nan"
    if value == 0:
        return "zero"
    return "absurd" if bounded and abs(value) > LARGEST else ""
