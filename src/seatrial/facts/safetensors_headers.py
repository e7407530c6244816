"""Reads the headers of safetensors files: names, dtypes, shapes and sizes of tensors. No weight is read."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

from seatrial.errors import InputError
from seatrial.facts.model import TensorFacts

MOST_HEADER_BYTES = 100_000_000
"""The format's own limit of a header (safetensors, `MAX_HEADER_SIZE`)."""


def read_header(path: Path) -> Mapping[str, TensorFacts]:
    """Read one file's header.

    Raises:
        InputError: the file can't be read or is no safetensors file.
    """
    try:
        with path.open("rb") as file:
            first = file.read(8)
            length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
            if not 2 <= length <= MOST_HEADER_BYTES:
                raise InputError("this is no safetensors file", where=str(path), advice=_ADVICE)
            raw = file.read(length)
        header = json.loads(raw)
    except OSError as problem:
        raise InputError(f"can't be read: {problem.strerror or problem}", where=str(path)) from problem
    except ValueError as problem:
        raise InputError("its header is no JSON", where=str(path), advice=_ADVICE) from problem
    if not isinstance(header, dict):
        raise InputError("its header is no object", where=str(path), advice=_ADVICE)
    return parse_header(header, where=str(path))


_ADVICE = "A download that was cut off, or a Git LFS pointer, looks like this: fetch the file again."


def parse_header(header: Mapping[str, object], *, where: str) -> Mapping[str, TensorFacts]:
    """Take the tensors from a parsed header.

    Raises:
        InputError: an entry lacks dtype, shape or offsets.
    """
    found: dict[str, TensorFacts] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict):
            raise InputError(f"the entry of {name!r} is no object", where=where)
        dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
        if not (isinstance(dtype, str) and isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2):
            raise InputError(f"the entry of {name!r} lacks dtype, shape or offsets", where=where)
        found[name] = TensorFacts(dtype, tuple(int(size) for size in shape), int(offsets[1]) - int(offsets[0]))
    return found
