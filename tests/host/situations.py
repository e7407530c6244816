"""Situations to judge: a plan for two RTX 4090s, and what a test changes about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seatrial.engines.sglang.catalogue import load
from seatrial.facts.example_hosts import host_from_spec
from seatrial.facts.host import DockerFacts, HostFacts
from seatrial.facts.known_models import known_model
from seatrial.findings import Finding
from seatrial.host.preflight import preflight
from seatrial.host.situation import Situation
from seatrial.planning.plan import Plan, make_plan
from seatrial.stack.model import Stack

MODEL = "QuantTrio/Qwen3.6-35B-A3B-AWQ"
DOCKER = DockerFacts("28.3.0", "2.38.1", ("nvidia", "runc"), reachable=True)


def machine(spec: str = "2x RTX 4090", **more: Any) -> HostFacts:
    """A machine on which nothing is wrong: the cards are free, the driver is new."""
    host = host_from_spec(spec)
    gpus = tuple(replace(gpu, free_mib=gpu.memory_mib - 400) for gpu in host.gpus or ())
    known: dict[str, Any] = {
        "gpus": gpus,
        "driver_version": "580.95.05",
        "cuda_version": "13.0",
        "docker": DOCKER,
        "shm_mib": 64_000,
        "clock_synchronized": True,
        "source": "this host",
    }
    return replace(host, **{**known, **more})


def plan(host: HostFacts | None = None, model: str = MODEL, **more: Any) -> Plan:
    """A plan of the deployment notes' stack, with more keys of a stack file."""
    text = {
        "name": "review",
        "model": {"repo": model},
        "serve": {"context_length": 262_144, "tensor_parallel": 2},
        "store": "hf-cache",
        "jit_cache": "jit-cache",
        "ledger": "ledger",
        **more,
    }
    stack = Stack.model_validate(text)
    return make_plan(stack, model=known_model(model), host=host or machine(), catalogue=load("0.5.16"))


def judge(**parts: Any) -> dict[str, Finding]:
    """Make a preflight, by the ids of what it finds."""
    host = parts.pop("host", machine())
    made = parts.pop("plan", plan(host))
    findings = preflight(Situation(host=host, plan=made, **parts))
    return {finding.id: finding for finding in findings}
