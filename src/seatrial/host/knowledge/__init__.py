"""What is known about drivers, CUDA and the packages of an engine's image: data, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from seatrial.engines.versions import in_range
from seatrial.yaml_text import read_yaml


@dataclass(frozen=True, slots=True)
class EngineBuild:
    """What an engine version's official image is built with.

    Attributes:
        versions: range of engine versions.
        cuda: version of CUDA.
        packages: pinned versions by package.
    """

    versions: str
    cuda: str
    packages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CudaKnowledge:
    """The data of `cuda.yaml`."""

    drivers: Mapping[str, str]
    engines: tuple[EngineBuild, ...]
    together: tuple[tuple[str, ...], ...]

    def oldest_driver(self, cuda: str) -> str | None:
        """Say the oldest driver that runs programs of a CUDA version; None where that is not known."""
        return self.drivers.get(cuda.split(".", maxsplit=1)[0])

    def build_of(self, version: str) -> EngineBuild | None:
        """Find what an engine version is built with."""
        return next((build for build in self.engines if in_range(version, build.versions)), None)


@cache
def cuda_knowledge() -> CudaKnowledge:
    """Load the data."""
    text = (resources.files(__name__) / "cuda.yaml").read_text(encoding="utf-8")
    data = read_yaml(text, where="cuda.yaml").value
    return CudaKnowledge(
        drivers={str(key): str(value) for key, value in data["drivers"].items()},
        engines=tuple(
            EngineBuild(
                str(row["versions"]),
                str(row["cuda"]),
                {name: str(version) for name, version in row["packages"].items()},
            )
            for row in data["engines"]
        ),
        together=tuple(tuple(row) for row in data["together"]),
    )
