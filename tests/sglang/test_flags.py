"""The catalogue's data is what an installed SGLang's own parser says, and command lines mean to both of us the same."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from seatrial.engines.sglang.catalogue import Catalogue, Flag, load
from seatrial.engines.sglang.command_line import HELP, CommandLine, GivenFlag, understand

pytestmark = [pytest.mark.sglang, pytest.mark.timeout(600)]
ROOT = Path(__file__).parent.parent.parent
CASES = 3_000
SEED = 7


def site(version: str, environment: Path) -> list[str]:
    """Name the folder of a version that is only unpacked; the installed one needs none."""
    folder = environment / f"sglang-{version}"
    return ["--site", str(folder)] if folder.is_dir() else []


@pytest.mark.parametrize("version", ["0.5.16", "0.5.23"])
def test_the_data_is_what_the_installed_parser_says(version: str, sglang_environment: Path, sglang_python: str) -> None:
    command = [sglang_python, "scripts/sglang_flags.py", *site(version, sglang_environment)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    file = resources.files("seatrial.engines.sglang") / "flags" / f"{version}.json"
    assert json.loads(done.stdout) == json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", ["0.5.16", "0.5.23"])
def test_a_command_line_means_what_it_means_to_the_engine(
    version: str, sglang_environment: Path, sglang_python: str
) -> None:
    catalogue = load(version)
    cases = list(command_lines(catalogue, random.Random(SEED)))
    parser = [sglang_python, str(Path(__file__).with_name("real_parser.py")), *site(version, sglang_environment)]
    words = "\n".join(map(json.dumps, cases))
    done = subprocess.run(parser, cwd=ROOT, input=words, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases)
    taken = 0
    for case, answer in zip(cases, answers, strict=True):
        command = understand(["sglang.launch_server", *case], catalogue)
        assert is_taken(command) is (answer["error"] is None), (case, answer)
        if answer["error"] is None:
            assert is_whole(command) is not answer["unrecognized"], (case, answer)
            assert not list(differences(command, catalogue, answer["values"])), (case, answer)
            taken += 1
    assert CASES / 4 < taken < CASES  # both kinds were tried


def is_taken(command: CommandLine) -> bool:
    """Whether argparse would get to the end of it."""
    return not any(is_wrong(given) for given in command.flags)


def is_wrong(given: GivenFlag) -> bool:
    if given.flag is None:
        return bool(given.candidates)
    items = given.value if isinstance(given.value, tuple) else (given.value,)
    choices = [str(choice) for choice in given.flag.choices]
    return (
        given.flag is HELP or not given.well_typed or bool(choices and any(str(item) not in choices for item in items))
    )


def is_whole(command: CommandLine) -> bool:
    """Whether every word is somebody's."""
    return not command.stray and all(given.flag is not None for given in command.flags)


def differences(command: CommandLine, catalogue: Catalogue, real: dict[str, object]) -> Iterator[str]:
    """Name the flags whose value SGLang reads differently."""
    for name, value in command.values.items():
        flag = catalogue.flag(name)
        field = name[2:].replace("-", "_")
        if flag is None or field not in real:
            continue  # a few flags have a field of another name
        if flag.deprecated and real[field] is None:
            continue  # it only warns
        mine: object = list(value) if isinstance(value, tuple) else value
        if flag.type == "json":
            mine = json.loads(str(value))
        if flag.optional and value is True:
            mine = ""  # argparse's `const` of --model-checksum
        if json.dumps(mine) != json.dumps(real[field]) and str(mine) != str(real[field]):
            yield name


def command_lines(catalogue: Catalogue, chance: random.Random) -> Iterator[list[str]]:
    """Make command lines of every flag, right and wrong."""
    left_out = ("--lora-paths", "--cuda-graph-config", "--quantization-param-path")  # they look into their values
    flags = [flag for flag in map(catalogue.flag, catalogue.names()) if flag and flag.name not in left_out]
    for _ in range(CASES):
        words = ["--model-path", "folder"]
        for _ in range(chance.randint(1, 4)):
            words += some_words(chance.choice(flags), chance)
        yield words


def some_words(flag: Flag, chance: random.Random) -> list[str]:
    if chance.random() < 0.3:
        return [some_value(flag, chance)]
    spelled = chance.choice([flag.name, *flag.aliases, *([flag.negation] if flag.negation else [])])
    if chance.random() < 0.25:
        spelled = spelled[: chance.randint(3, len(spelled))]
    if chance.random() < 0.2:
        value = some_value(flag, chance)
        spelled += f"={value if value != '--' else 'x'}"  # argparse loses a value that is two dashes
    return [spelled, *(some_value(flag, chance) for _ in range(chance.choice([0, 1, 1, 1, 2])))]


def some_value(flag: Flag, chance: random.Random) -> str:
    if chance.random() < 0.5:
        if flag.choices:
            return str(chance.choice(flag.choices))
        sizes = chance.choice(["256k", "1.5k", "4Ki", "7"])
        return {"int": "3", "float": "0.5", "size": sizes, "json": '{"a": 1}'}.get(flag.type, "text")
    odd = ["-1", "-.5", "x y", "--", "-", "", "-x", "--a b", "--dtype auto", "3", "0.5", "nan", "1_0", "true", "{bad"]
    return chance.choice([*odd, "256k", "2.5Ki", " 5 ", "-h", "--help", "--tp 2", "=x"])
