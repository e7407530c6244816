"""A Compose file is read in all the ways that people write one, each part with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import InputError
from seatrial.launches.compose_file import read_compose
from seatrial.launches.launch import Launch

HEAD = "services:\n  llm:\n    image: lmsysorg/sglang:v0.5.16\n"


def read(body: str, **variables: str) -> Launch:
    return read_compose(HEAD + body, where="compose.yaml", environment=variables)


def words(launch: Launch) -> list[str]:
    return [word.text for word in launch.words]


@pytest.mark.parametrize(
    "body",
    [
        "    command: python3 -m sglang.launch_server --tp-size 2",
        "    command: >-\n      python3 -m sglang.launch_server\n      --tp-size 2\n",
        "    command: |\n      python3 -m sglang.launch_server \\\n        --tp-size 2\n",
        "    command: [python3, -m, sglang.launch_server, --tp-size, 2]",
        "    entrypoint: python3 -m sglang.launch_server\n    command: --tp-size 2",
        "    command: ['bash', '-c', 'exec python3 -m sglang.launch_server --tp-size 2']",
        '    command: bash -lc "python3 -m sglang.launch_server --tp-size 2"',
        "    command: python3 -m sglang.launch_server --tp-size ${TP:-2}",
    ],
)
def test_a_command_is_the_same_however_it_is_written(body: str) -> None:
    assert words(read(body)) == ["python3", "-m", "sglang.launch_server", "--tp-size", "2"]


def test_each_word_of_a_list_knows_its_line() -> None:
    launch = read("    command:\n      - python3\n      - --tp-size\n      - '2'\n")
    assert [word.where for word in launch.words] == ["compose.yaml:5", "compose.yaml:6", "compose.yaml:7"]


@pytest.mark.parametrize("body", ["    environment:\n      A: 1\n      B:\n", "    environment: [A=1, B]"])
def test_the_environment_is_a_mapping_or_a_list(body: str) -> None:
    variables = read(body).variables
    assert variables["A"].value == "1"
    assert variables["B"].value is None


@pytest.mark.parametrize(
    ("entry", "address", "published", "target"),
    [
        ('"30000:30000"', "0.0.0.0", "30000", "30000"),
        ('"127.0.0.1:8000:30000/tcp"', "127.0.0.1", "8000", "30000"),
        ('"[::1]:8000:30000"', "::1", "8000", "30000"),
        ('"30000"', "0.0.0.0", None, "30000"),
        ("{target: 30000, published: 8000, host_ip: 10.0.0.1}", "10.0.0.1", "8000", "30000"),
    ],
)
def test_a_port_says_who_can_reach_it(entry: str, address: str, published: str | None, target: str) -> None:
    service = read(f"    ports: [{entry}]").service
    assert service is not None
    (port,) = service.ports
    assert (port.address, port.published, port.target) == (address, published, target)


DEVICES = "    deploy: {{resources: {{reservations: {{devices: [{}]}}}}}}"


@pytest.mark.parametrize(
    ("body", "gpus"),
    [
        (DEVICES.format("{driver: nvidia, count: 2, capabilities: [gpu]}"), 2),
        (DEVICES.format("{driver: nvidia, count: all, capabilities: [gpu]}"), -1),
        (DEVICES.format("{driver: nvidia, device_ids: ['0', '3'], capabilities: [gpu]}"), 2),
        (DEVICES.format("{driver: cdi, device_ids: ['nvidia.com/gpu=all']}"), -1),
        ("    gpus: all", -1),
        ("    runtime: nvidia", -1),
        ("    restart: always", None),
    ],
)
def test_gpus_are_counted_in_all_of_composes_ways(body: str, gpus: int | None) -> None:
    service = read(body).service
    assert service is not None
    assert service.gpus == gpus


def test_a_variable_without_a_value_is_named() -> None:
    service = read("    command: sglang serve ${MODEL} --port $PORT", PORT="1").service
    assert service is not None
    assert service.unset == ("MODEL",)


def test_the_env_file_beside_it_fills_in_and_the_callers_environment_goes_first() -> None:
    files = {".env": "TAG=v0.5.16\nMODEL='a/b' # c\n", "extra.env": "X=1\n"}
    launch = read_compose(
        "services:\n  s:\n    image: sglang:${TAG}\n    command: serve $MODEL\n    env_file: extra.env\n",
        where="c",
        environment={"TAG": "v9"},
        read_file=files.get,
    )
    assert launch.service is not None
    assert (launch.service.image, words(launch)) == ("sglang:v9", ["serve", "a/b"])
    assert launch.variables["X"].value == "1"


def test_the_service_that_runs_the_engine_is_found_among_others() -> None:
    text = "services:\n  web: {image: nginx, depends_on: [llm]}\n  llm: {image: lmsysorg/sglang:v0.5.16}\n"
    launch = read_compose(text, where="c")
    assert launch.service is not None
    assert launch.service.name == "llm"
    assert list(launch.service.top_level["services"]) == ["web"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no services"),
        ("services: {}", "no services"),
        ("services: {a: {image: x}, b: {image: y}}", "no service runs SGLang"),
        ("services: {a: {image: sglang:1}, b: {image: sglang:2}}", "several services"),
        ("services: {a: 3}", "no mapping"),
        ("services: {a: {image: sglang, command: 'a \"b'}}", "quote"),
        ("name: review\nmodel: {repo: a/b}", "no services"),
    ],
)
def test_what_is_no_launch_gets_one_clear_line(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read_compose(text, where="compose.yaml")
    assert what in str(caught.value)
    assert str(caught.value).startswith("compose.yaml")


ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=10)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["image", "command", "entrypoint", "environment", "ports", "volumes", "deploy", "gpus", "env_file", "runtime"]
)


@given(st.dictionaries(KEYS, ANY, max_size=6))
def test_no_service_gives_a_traceback(keys: dict[str, object]) -> None:
    import json

    text = json.dumps({"services": {"sglang": keys}})
    try:
        read_compose(text, where="c")
    except InputError as error:
        assert error.problem  # noqa: PT017 - both ways out are right
