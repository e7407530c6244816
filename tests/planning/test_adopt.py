"""Adopting loses nothing: the adopted stack's plan has every flag and variable of the launch."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linting import DATA, Linter, model_of
from seatrial.engines.sglang.catalogue import load
from seatrial.engines.sglang.command_line import understand
from seatrial.facts.example_hosts import host_from_spec
from seatrial.launches.command import read_command
from seatrial.planning.adopt import adopt
from seatrial.planning.lint import given_settings
from seatrial.planning.plan import make_plan
from seatrial.planning.setting import same_value
from seatrial.stack.reading import parse_stack
from seatrial.stack.writing import write_stack

CATALOGUE = load("0.5.16")
HOST = host_from_spec("2x RTX 4090")


@pytest.mark.parametrize("key", ["35b", "27b"])
def test_every_flag_and_variable_comes_back(linter: Linter, key: str) -> None:
    linted = linter((DATA / f"compose-{key}.yaml").read_text(encoding="utf-8"), model_of(key))
    stack = parse_stack(write_stack(linted.adoption.stack), where="stack.yaml")
    plan = make_plan(stack, model=model_of(key), host=HOST, catalogue=CATALOGUE)
    planned = {setting.name: setting.value for setting in plan.settings}
    for name, value in given_settings(linted.launch, linted.command).items():
        assert same_value(planned.get(name), value), name


def test_what_rules_bring_back_is_left_to_them(linter: Linter) -> None:
    stack = linter((DATA / "compose-35b.yaml").read_text(encoding="utf-8"), model_of("35b")).adoption.stack
    assert [override.name for override in stack.settings] == ["--mamba-full-memory-ratio"]
    assert stack.policy.over_long_input == "truncate"


def test_the_rest_of_the_service_and_of_the_file_is_kept(linter: Linter) -> None:
    text = (DATA / "compose-35b.yaml").read_text(encoding="utf-8")
    text = text.replace("    ipc: host\n", "    ipc: host\n    cpus: 8\n    volumes_from: [x]\n")
    text = text.replace("      - ../jit-cache", "      - /etc/extra:/etc/extra:ro\n      - ../jit-cache")
    text += "networks:\n  inner: {}\n"
    container = linter(text, model_of("35b")).adoption.stack.container
    assert container.extra["cpus"] == 8
    assert container.extra["volumes"] == ["/etc/extra:/etc/extra:ro"]
    assert container.extra["stop_grace_period"] == "2m"
    assert container.top_level == {"networks": {"inner": {}}}


def test_secrets_leave_the_file(linter: Linter) -> None:
    text = (DATA / "compose-35b.yaml").read_text(encoding="utf-8")
    text = text.replace("- --tp-size", "- --api-key=sk-very-secret\n      - --tp-size")
    text = text.replace("HF_HOME: /hf-cache", "HF_HOME: /hf-cache\n      HF_TOKEN: hf_also_secret")
    adoption = linter(text, model_of("35b")).adoption
    written = write_stack(adoption.stack)
    assert "secret" not in written.replace("secrets/", "")
    assert adoption.api_key == "sk-very-secret"
    assert adoption.secret_variables == {"HF_TOKEN": "hf_also_secret"}
    assert adoption.stack.serve.api_key_file == "secrets/api_key"


FLAGS = [flag for name in CATALOGUE.names() if (flag := CATALOGUE.flag(name)) is not None]
VALUES = {
    "int": st.integers(1, 4096).map(str),
    "float": st.floats(0.1, 0.9).map(repr),
    "size": st.integers(1, 262144).map(str),
    "json": st.just('{"a": 1}'),
    "text": st.from_regex(r"[a-z][a-z0-9_/.-]{0,12}", fullmatch=True),
}
NOT_DRAWN = {"--model-path", "--config", "--api-key", "--admin-api-key", "--nnodes", "--quantization", "--device"}


@st.composite
def commands(draw: st.DrawFn) -> list[str]:
    words = ["python3", "-m", "sglang.launch_server", "--model-path", "QuantTrio/Qwen3.6-35B-A3B-AWQ"]
    wanted = [flag for flag in FLAGS if flag.name not in NOT_DRAWN]
    for flag in draw(st.lists(st.sampled_from(wanted), max_size=8, unique_by=lambda flag: flag.name)):
        if not flag.takes_value:
            words.append(flag.name)
        elif flag.choices:
            words += [flag.name, str(draw(st.sampled_from(flag.choices)))]
        else:
            words += [flag.name, draw(VALUES[flag.type])]
    return words


@settings(deadline=None)  # a command may ask for two thousand pipeline stages
@given(commands())
def test_no_flag_of_any_command_is_lost(words: list[str]) -> None:
    model = model_of("35b")
    launch = read_command(words)
    command = understand([word.text for word in launch.words], CATALOGUE)
    stack = adopt(launch, command, model=model, host=HOST, catalogue=CATALOGUE).stack
    stack = parse_stack(write_stack(stack), where="stack.yaml")
    plan = make_plan(stack, model=model, host=HOST, catalogue=CATALOGUE)
    planned = {setting.name: setting.value for setting in plan.settings}
    for name, value in command.values.items():
        assert same_value(planned.get(name), value), name
