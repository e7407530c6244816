"""An entry of the ledger: what was found about which served combination, and when. Pure values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What an entry records."""

    VERDICT = "verdict"
    """A suite's verdict."""
    BENCH = "bench"
    """A benchmark's figures."""
    BOOT = "boot"
    """A start: the memory plan beside what the engine's log says."""
    PROMOTION = "promotion"
    """A candidate became the stack to return to."""
    ROLL_BACK = "roll-back"
    """A candidate was given up, and the last proven stack put back."""
    REPORTED = "reported"
    """What somebody else's ledger says."""


@dataclass(frozen=True, slots=True)
class Combination:
    """What was served. A verdict is about all of it together, never about a name.

    The same checkpoint was publicly seen broken on one engine and clean on another, and clean at one size and broken at
    the next. None where nobody knows.

    Attributes:
        model: repository, or folder.
        revision: commit, or a digest of the weights.
        quantization: its method.
        engine: its kind, e.g. `sglang`.
        engine_version: as the server or the image says it.
        image: image with its digest, where there is one.
        dtype: what the model computes in.
        kv_cache_dtype: what keys and values are kept in.
        state_dtypes: convolution and recurrent state, e.g. `float16,float32`.
        gpu: the GPU's name.
        gpu_count: how many.
        tensor_parallel: GPUs that share each layer.
        sampling: sampling parameters as JSON; empty for the server's own.
        suite: name and version of the suite.
    """

    model: str
    engine: str
    revision: str | None = None
    quantization: str | None = None
    engine_version: str | None = None
    image: str | None = None
    dtype: str | None = None
    kv_cache_dtype: str | None = None
    state_dtypes: str | None = None
    gpu: str | None = None
    gpu_count: int | None = None
    tensor_parallel: int | None = None
    sampling: str = ""
    suite: str | None = None

    def digest(self) -> str:
        """Name this combination in sixteen hexadecimal digits."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger.

    Attributes:
        kind: what it records.
        at: when, in UTC, ISO 8601 to the second.
        combination: what it is about.
        verdict: proven, refuted or unproven; None where the kind has none.
        stack: name of the stack; empty for a server that no stack started.
        plan: digest of the plan that was started.
        run: the run's folder, relative to the ledger where it lies below or beside it.
        figures: numbers with their units in their names, and whatever a kind needs.
        note: a sentence for people: what was refuted first, why something was forced.
        origin: whose ledger it comes from; empty for this one.
        id: its number; None until it is written.
    """

    kind: Kind
    at: str
    combination: Combination
    verdict: str | None = None
    stack: str = ""
    plan: str = ""
    run: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    origin: str = ""
    id: int | None = None


COMBINATION_FIELDS = frozenset(item.name for item in fields(Combination))
