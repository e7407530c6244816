"""What a container needs is counted in one place, for a file that is written and for one that is checked."""

from __future__ import annotations

import pytest

from seatrial.planning.container import gpus_needed
from seatrial.stack.model import Serve


@pytest.mark.parametrize(
    ("values", "gpus"),
    [
        ({}, 1),
        ({"--tp-size": 2}, 2),
        ({"--tp-size": 2, "--pp-size": 2}, 4),
        ({"--tp-size": 2, "--dp-size": 2}, 4),
        ({"--tp-size": 4, "--dp-size": 2, "--enable-dp-attention": True}, 4),
        ({"--tp-size": 16, "--nnodes": 2}, 8),
    ],
)
def test_the_gpus_of_this_node_are_counted(values: dict[str, int | bool], gpus: int) -> None:
    assert gpus_needed(values) == gpus


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1", "http://127.0.0.1:30000"),
        ("0.0.0.0", "http://127.0.0.1:30000"),
        ("::", "http://[::1]:30000"),
        ("::1", "http://[::1]:30000"),
        ("gpu-box", "http://gpu-box:30000"),
    ],
)
def test_a_program_on_this_machine_is_given_an_address_that_it_can_connect_to(host: str, origin: str) -> None:
    assert Serve(host=host).origin == origin
