"""Turns a hand-written launch into a stack with nothing lost: every flag, variable and key finds a place. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seatrial.engines.sglang.catalogue import Catalogue
from seatrial.engines.sglang.command_line import CommandLine
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.launches.compose_file import as_list
from seatrial.launches.launch import Launch, Service
from seatrial.planning.container import DEFAULT_CACHES, DEFAULT_HUB, ENGINE_PORT, SECRET_NAMES
from seatrial.planning.lint import given_settings
from seatrial.planning.plan import decide_launch, request_of
from seatrial.planning.rules import Need
from seatrial.planning.setting import Value, same_value
from seatrial.stack.model import Container, Engine, Model, Override, Policy, Serve, Stack

DEFAULT_NAME = "stack"
KEY_FILE = "secrets/api_key"
SECRETS_FILE = "secrets/adopted.env"

ENGINE_PREFIXES = ("SGLANG_", "SGL_")
PLACES = ("HF_HOME", "TRITON_CACHE_DIR")
"""Variables of other programs that the plan itself sets."""

DEBUG: Mapping[str, Value] = {"--log-level": "debug", "--log-requests": True, "--log-requests-level": 3}
"""The toggle `debug: true`."""

FIELDS = frozenset(
    {"--model-path", "--revision", "--served-model-name", "--context-length", "--tp-size", "--trust-remote-code"}
    | {"--allow-auto-truncate", "--api-key", "--config"}
)
"""Flags that have a place of their own in the stack file."""

WRITTEN_KEYS = frozenset({"image", "command", "entrypoint", "ports", "environment", "volumes"})
"""Keys of the service that are taken apart; all others are kept as they are."""


@dataclass(frozen=True, slots=True)
class Adoption:
    """A launch as a stack.

    Attributes:
        stack: the stack.
        api_key: the key that stood in the launch; it belongs into the file that the stack names.
        secret_variables: secrets that stood in the environment; they belong into `secrets/adopted.env`.
        notes: what a person should know.
    """

    stack: Stack
    api_key: str | None
    secret_variables: Mapping[str, str]
    notes: tuple[str, ...]


def adopt(
    launch: Launch,
    command: CommandLine,
    *,
    model: ModelFacts | None,
    host: HostFacts | None,
    catalogue: Catalogue,
    version: str | None = None,
) -> Adoption:
    """Turn a launch into a stack.

    Args:
        launch: what was read.
        command: its words, understood by the catalogue.
        model: for telling which flags the rules would set anyway; None leaves all of them as settings.
        host: likewise.
        catalogue: the engine version's flags.
        version: of the engine, where the image does not say it.
    """
    given = given_settings(launch, command)
    notes: list[str] = []
    secrets = _secret_variables(launch)
    api_key = given.get("--api-key")
    bare = _stack(launch, given, version=version, has_key=api_key is not None, notes=notes, secrets=secrets)
    settings = _settings(launch, command, given, bare, model=model, host=host, catalogue=catalogue)
    stack = bare.model_copy(update={"settings": settings})
    if launch.comments:
        notes.append(f"{len(launch.comments)} lines of comment are kept at the end of the stack file")
    return Adoption(stack, None if api_key is None else str(api_key), secrets, tuple(notes))


def _stack(
    launch: Launch,
    given: Mapping[str, Value],
    *,
    version: str | None,
    has_key: bool,
    notes: list[str],
    secrets: Mapping[str, str],
) -> Stack:
    service = launch.service
    image = service.image if service and service.image else None
    model = str(given.get("--model-path", ""))
    if not model:
        notes.append("the launch names no model; write model.repo")
    host, port = _published(service, given)
    store, caches, _ = _mounts(service, given)
    debug = all(same_value(given.get(name), value) for name, value in DEBUG.items())
    context, ranks = given.get("--context-length"), given.get("--tp-size")
    engine = {"image": image} if image else {}
    if version and (not image or Engine(image=image).resolved_version is None):
        engine["version"] = version
    places = {key: value for key, value in (("store", store), ("jit_cache", caches)) if value}
    return Stack(
        name=_name(service.name if service else DEFAULT_NAME),
        engine=Engine(**engine),  # type: ignore[arg-type]
        model=Model(
            repo=model or "unknown/unknown",
            revision=_text(given.get("--revision")),
            served_name=_text(given.get("--served-model-name")),
            trust_remote_code=given.get("--trust-remote-code") is True,
        ),
        serve=Serve(
            host=host,
            port=port,
            context_length=context if isinstance(context, int) else None,
            tensor_parallel=ranks if isinstance(ranks, int) else None,
            api_key_file=KEY_FILE if has_key else None,
        ),
        policy=Policy(over_long_input="truncate" if given.get("--allow-auto-truncate") else "reject"),
        debug=debug,
        container=_container(service, given, secrets) if service else Container(),
        **places,  # type: ignore[arg-type]  # all text
    )


def _settings(
    launch: Launch,
    command: CommandLine,
    given: Mapping[str, Value],
    stack: Stack,
    *,
    model: ModelFacts | None,
    host: HostFacts | None,
    catalogue: Catalogue,
) -> list[Override]:
    """Keep every flag and engine variable that neither a field of the stack nor a rule brings back."""
    engine_variables = {name for name in launch.variables if name in given and _is_engines(name, catalogue)}
    decision = decide_launch(
        request_of(stack),
        {},
        model=model,
        host=host,
        version=stack.engine.resolved_version or catalogue.version,
    )
    origin = launch.where.rsplit("/", 1)[-1]
    settings = []
    if "HF_HOME" not in given and any(str(value).startswith(f"{DEFAULT_HUB}/") for value in given.values()):
        why = f"{origin} names files below it, the engine's default"
        settings.append(Override(variable="HF_HOME", value=DEFAULT_HUB, why=why))
    for name, value in given.items():
        if name in FIELDS or (stack.debug and name in DEBUG):
            continue
        if name not in command.values and name not in engine_variables:
            continue  # not the engine's own: it stays in container.environment
        brought_back = decision.values.get(name)
        if brought_back is not None and same_value(brought_back, value):
            continue
        advice = next((r.rule.reason(decision.facts) for r in decision.rulings_on(name) if r.truth), "")
        why = f"stood in {origin}" + (f". {advice}" if advice and _optional(decision, name) else "; write down why")
        what = {"flag": name} if name.startswith("-") else {"variable": name}
        settings.append(Override(**what, value=_json(value), why=why))  # type: ignore[arg-type]
    return settings


def _optional(decision: Any, name: str) -> bool:
    return any(ruling.rule.need is Need.OPTIONAL for ruling in decision.rulings_on(name))


def _is_engines(name: str, catalogue: Catalogue) -> bool:
    return catalogue.find(name) is not None or name in PLACES


def _published(service: Service | None, given: Mapping[str, Value]) -> tuple[str, int]:
    """Find where clients reach the engine: address and port of the host."""
    listens = given.get("--port", ENGINE_PORT)
    listens = listens if isinstance(listens, int) else ENGINE_PORT
    if service is None or service.keys.get("network_mode") == "host":
        return str(given.get("--host", "127.0.0.1")), listens
    for port in service.ports:
        if port.target == str(listens) and (port.published or "").isdigit():
            return port.address, int(port.published or listens)
    return "127.0.0.1", listens


def _mounts(service: Service | None, given: Mapping[str, Value]) -> tuple[str | None, str | None, list[Any]]:
    """Split the mounts: the store's source, the caches' source, and all others as they stand in the file."""
    if service is None:
        return None, None, []
    home = str(given.get("HF_HOME", DEFAULT_HUB)).rstrip("/")
    store = caches = None
    others: list[Any] = []
    raw = service.raw.get("volumes") or []
    for mount, entry in zip(service.mounts, raw, strict=False):
        target = mount.target.rstrip("/")
        if target == home and mount.source and not mount.read_only and store is None:
            store = mount.source
        elif target == DEFAULT_CACHES and mount.source and caches is None:
            caches = mount.source
        else:
            others.append(entry)
    return store, caches, others


def _container(service: Service, given: Mapping[str, Value], secrets: Mapping[str, str]) -> Container:
    _, _, mounts = _mounts(service, given)
    extra: dict[str, Any] = {key: value for key, value in service.raw.items() if key not in WRITTEN_KEYS}
    if mounts:
        extra["volumes"] = mounts
    listens = str(given.get("--port", ENGINE_PORT))
    ports = [
        entry
        for port, entry in zip(service.ports, service.raw.get("ports") or [], strict=False)
        if port.target != listens or not (port.published or "").isdigit()
    ]
    if ports:
        extra["ports"] = ports
    if secrets:
        extra["env_file"] = [*as_list(extra.get("env_file")), SECRETS_FILE]
    return Container(
        service=_name(service.name),
        environment={
            name: value
            for name, value in _raw_environment(service).items()
            if name not in secrets
            and not (name.startswith(("SGLANG_", "SGL_")) or name in ("HF_HOME", "TRITON_CACHE_DIR"))
        },
        extra=extra,
        top_level=dict(service.top_level),
    )


def _raw_environment(service: Service) -> dict[str, str]:
    environment = service.raw.get("environment")
    if isinstance(environment, dict):
        return {name: _scalar(value, name) for name, value in environment.items()}
    pairs = (str(entry).partition("=") for entry in environment or ())
    return {name: value if equals else f"${{{name}}}" for name, equals, value in pairs}


def _scalar(value: Any, name: str) -> str:
    if value is None:
        return f"${{{name}}}"  # passed on from the caller's environment
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _secret_variables(launch: Launch) -> dict[str, str]:
    """List secrets that stand in the file itself; those that come from elsewhere stay where they are."""
    if launch.service is None:
        return {}
    raw = _raw_environment(launch.service)
    return {name: value for name, value in raw.items() if SECRET_NAMES.search(name) and value and "$" not in value}


def _name(text: str) -> str:
    cleaned = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")[:63]
    return cleaned or DEFAULT_NAME


def _text(value: Value | None) -> str | None:
    return None if value is None else str(value)


def _json(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value
