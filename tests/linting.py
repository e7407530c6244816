"""What the planning tests share: machines by description, checkpoints that seatrial knows offline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seatrial.engines.sglang.catalogue import Catalogue, load
from seatrial.engines.sglang.command_line import CommandLine, understand
from seatrial.facts.example_hosts import host_from_spec
from seatrial.facts.host import HostFacts
from seatrial.facts.known_models import known_model
from seatrial.facts.model import ModelFacts
from seatrial.launches.compose_file import read_compose
from seatrial.launches.launch import Launch
from seatrial.planning.adopt import Adoption, adopt
from seatrial.planning.lint import Lint, lint

DATA = Path(__file__).parent / "planning" / "data"
MODELS = {"35b": "QuantTrio/Qwen3.6-35B-A3B-AWQ", "27b": "cyankiwi/Qwen3.6-27B-AWQ-INT4"}
"""The two models of the deployment notes."""


def model_of(key: str) -> ModelFacts:
    found = known_model(MODELS[key])
    assert found is not None
    return found


@dataclass(frozen=True)
class Linted:
    launch: Launch
    command: CommandLine
    adoption: Adoption
    lint: Lint

    @property
    def kinds(self) -> set[tuple[str, str, str | None]]:
        return {(finding.level.value, finding.id, finding.setting) for finding in self.lint.findings}


class Linter:
    """Lints the text of a Compose file for two RTX 4090s, or another machine."""

    def __init__(self) -> None:
        self.catalogue: Catalogue = load("0.5.16")
        self.host: HostFacts | None = host_from_spec("2x RTX 4090")

    def __call__(self, text: str, model: ModelFacts | None, *, host: HostFacts | str | None = "") -> Linted:
        where = self.host if host == "" else host
        assert not isinstance(where, str)
        launch = read_compose(text, where="compose.yaml")
        command = understand([word.text for word in launch.words], self.catalogue)
        adoption = adopt(launch, command, model=model, host=where, catalogue=self.catalogue)
        found = lint(
            launch,
            command,
            adoption.stack,
            model=model,
            host=where,
            catalogue=self.catalogue,
            version_known=True,
        )
        return Linted(launch, command, adoption, found)
