"""A plan, a lint and their parts as JSON documents: what `--json` prints. Pure.

plan: {"stack", "engine": {"kind", "version", "image" | "environment"}, "model", "host",
"settings": [{"flag" | "variable", "value", "class", "why", "evidence", "without", "rules", "overrides"?}],
"command", "environment", "findings": [{"level", "id", "setting", "message", "advice", "where"}], "memory"}
lint: {"where", "engine", "given", "findings", "memory"}
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.findings import Finding
from seatrial.planning.lint import Lint
from seatrial.planning.plan import Plan
from seatrial.planning.policies import KEY_FLAGS
from seatrial.planning.setting import Setting, Value, text_of


def plan_document(plan: Plan) -> dict[str, Any]:
    """Make the document of a plan."""
    return {
        "stack": plan.stack.name,
        "engine": {"kind": plan.stack.engine.kind, "version": plan.version, **_provider(plan)},
        "model": model_document(plan.model, plan.stack.model.repo),
        "host": host_document(plan.host),
        "settings": [setting_document(setting) for setting in plan.settings],
        "command": list(plan.arguments),
        "environment": {name: text_of(value) for name, value in plan.variables.items()},
        "findings": findings_document(plan.findings),
        "memory": memory_document(plan.memory),
    }


def _provider(plan: Plan) -> dict[str, str]:
    engine = plan.stack.engine
    return {"image": engine.image} if engine.environment is None else {"environment": engine.environment}


def lint_document(lint: Lint) -> dict[str, Any]:
    """Make the document of a lint."""
    return {
        "where": lint.launch.where,
        "engine": {"kind": "sglang", "version": lint.version},
        "given": {
            name: "***" if name in KEY_FLAGS else plain_value(value)
            for name, value in lint.given.items()
            if name.startswith("-")
        },
        "findings": findings_document(lint.findings),
        "memory": memory_document(lint.memory),
    }


def setting_document(setting: Setting) -> dict[str, Any]:
    """Make the document of a setting."""
    document: dict[str, Any] = {
        "flag" if setting.is_flag else "variable": setting.name,
        "value": plain_value(setting.value),
        "class": setting.setting_class.value,
        "why": setting.why,
        "evidence": [{"kind": source.kind.value, "says": source.says} for source in setting.evidence],
        "without": setting.without,
        "rules": list(setting.rules),
    }
    if setting.overrides is not None:
        document["overrides"] = plain_value(setting.overrides)
    return document


def findings_document(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Make the documents of findings."""
    return [
        {
            "level": finding.level.value,
            "id": finding.id,
            "setting": finding.setting,
            "message": finding.message,
            "advice": finding.advice,
            "where": finding.where,
        }
        for finding in findings
    ]


def memory_document(memory: MemoryPlan | None) -> dict[str, Any] | None:
    """Make the document of a memory plan; its findings stand among all others."""
    if memory is None:
        return None
    document = dataclasses.asdict(memory)
    del document["findings"]
    return document


def model_document(model: ModelFacts | None, name: str) -> dict[str, Any]:
    """Say which checkpoint a plan is for, and how it is known."""
    if model is None:
        return {"name": name, "known": False}
    return {
        "name": name,
        "known": True,
        "source": model.source,
        "architecture": model.architecture,
        "quantization": model.quantization.method if model.quantization else None,
        "context_length": model.context_length,
        "notes": list(model.notes),
    }


def host_document(host: HostFacts | None) -> dict[str, Any] | None:
    """Say which machine a plan is for."""
    if host is None:
        return None
    return {
        "source": host.source,
        "gpus": None if host.gpus is None else [{"name": gpu.name, "memory_mib": gpu.memory_mib} for gpu in host.gpus],
        "peer_access": host.peer_access,
    }


def plain_value(value: Value) -> Any:
    """Write a value as JSON holds it."""
    return list(value) if isinstance(value, tuple) else value
