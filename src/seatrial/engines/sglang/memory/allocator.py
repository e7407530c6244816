"""What PyTorch's caching allocator reserves for a list of tensors: more than their sum, because it works in segments.

Rules of c10/cuda/CUDACachingAllocator.cpp (PyTorch 2.11): sizes are rounded up to 512 bytes; up to 1 MiB comes from
2 MiB segments; up to 10 MiB from 20 MiB segments; anything larger gets a segment of its own, rounded up to 2 MiB. A
free rest of a large segment is used again if it is over 1 MiB. The best fit is taken.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

MIB = 1 << 20
ROUND_BYTES = 512
SMALL_BYTES = MIB
SMALL_SEGMENT_BYTES = 2 * MIB
LARGE_BYTES = 10 * MIB
LARGE_SEGMENT_BYTES = 20 * MIB


def reserved_bytes(tensors: Iterable[int]) -> int:
    """Say what is reserved of the GPU once all these tensors are made and none is freed.

    Args:
        tensors: bytes of each, in the order in which they are made.
    """
    total = 0
    small: list[int] = []
    large: list[int] = []
    for tensor in tensors:
        if tensor <= 0:
            continue
        size = -(-tensor // ROUND_BYTES) * ROUND_BYTES
        pool = small if size <= SMALL_BYTES else large
        found = bisect_left(pool, size)
        if found < len(pool):
            block = pool.pop(found)
        else:
            block = _segment(size)
            total += block
        rest = block - size
        if rest >= ROUND_BYTES if pool is small else rest > SMALL_BYTES:
            insort(pool, rest)
    return total


def _segment(size: int) -> int:
    if size <= SMALL_BYTES:
        return SMALL_SEGMENT_BYTES
    if size < LARGE_BYTES:
        return LARGE_SEGMENT_BYTES
    return -(-size // SMALL_SEGMENT_BYTES) * SMALL_SEGMENT_BYTES
