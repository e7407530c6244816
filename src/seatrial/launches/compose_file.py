"""Reads a Compose file: the service that runs the engine, variables filled in, every part with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from seatrial.errors import InputError
from seatrial.launches.command import split_words, unwrapped
from seatrial.launches.interpolation import interpolate, parse_env_file
from seatrial.launches.launch import Launch, Mount, PublishedPort, Service, Variable, Word
from seatrial.yaml_text import YamlText, read_yaml

ENGINE = re.compile(r"sglang", re.IGNORECASE)
ANYWHERE = "0.0.0.0"  # noqa: S104 - Docker publishes there when no address is stated
ReadFile = Callable[[str], str | None]
"""Gives the text of a file beside the Compose file, or None where there is none."""


def read_compose(
    text: str,
    *,
    where: str,
    service: str | None = None,
    environment: Mapping[str, str] | None = None,
    read_file: ReadFile = lambda _name: None,
) -> Launch:
    """Read the launch that a Compose file describes.

    Args:
        text: the file.
        where: its name.
        service: name of the service; needed where several run an engine.
        environment: variables that are filled in, before those of `.env`.
        read_file: reads `.env` and the files of `env_file`.

    Raises:
        InputError: it is no Compose file, or does not say which service is meant.
    """
    document = read_yaml(text, where=where)
    services = document.value.get("services") if isinstance(document.value, dict) else None
    if not isinstance(services, dict) or not services:
        raise InputError(
            "there are no services in it",
            where=document.place(),
            advice="A Compose file has a mapping `services`; a stack file is checked by `seatrial plan`.",
        )
    unset: set[str] = set()
    variables = {**parse_env_file(read_file(".env") or ""), **(environment or {})}
    name = _chosen(services, service, document)
    keys = interpolate(services[name], variables, unset)
    if not isinstance(keys, dict):
        raise InputError(f"the service {name!r} is no mapping", where=document.place(("services", name)))
    others = {key: value for key, value in services.items() if key != name}
    top_level = {key: value for key, value in document.value.items() if key != "services"}
    return Launch(
        where,
        _words(keys, name, document),
        _variables(keys, name, document, read_file),
        Service(
            name=name,
            where=document.place(("services", name)),
            image=str(keys["image"]) if keys.get("image") is not None else None,
            ports=tuple(_ports(keys, name, document)),
            mounts=tuple(_mounts(keys, name, document)),
            gpus=_gpus(keys),
            keys=keys,
            raw=services[name],
            top_level={**top_level, **({"services": others} if others else {})},
            lines={str(key): document.place(("services", name, key)) for key in keys},
            unset=tuple(sorted(unset)),
        ),
        tuple(line for line in text.splitlines() if line.lstrip().startswith("#")),
    )


def _chosen(services: Mapping[str, Any], wanted: str | None, document: YamlText) -> str:
    if wanted is not None:
        if wanted in services:
            return wanted
        raise InputError(
            f"there is no service {wanted!r}",
            where=document.place(("services",)),
            advice=f"There is: {_list(services)}.",
        )
    engines = [name for name, keys in services.items() if ENGINE.search(str(keys))]
    if len(engines) > 1:
        images = [name for name in engines if ENGINE.search(str((services[name] or {}).get("image", "")))]
        engines = images if len(images) == 1 else engines
    if len(engines) == 1:
        return engines[0]
    if not engines and len(services) == 1:
        return next(iter(services))
    problem = "several services run an engine" if engines else "no service runs SGLang"
    raise InputError(
        problem, where=document.place(("services",)), advice=f"Name one: --service {_list(engines or services, ' | ')}."
    )


def _words(keys: Mapping[str, Any], name: str, document: YamlText) -> tuple[Word, ...]:
    words: list[Word] = []
    for key in ("entrypoint", "command"):
        value = keys.get(key)
        place = document.place(("services", name, key))
        if isinstance(value, str):
            words += [Word(part, place) for part in split_words(value, where=place)]
        elif isinstance(value, list):
            words += [
                Word(_plain(item), document.place(("services", name, key, index))) for index, item in enumerate(value)
            ]
        elif value is not None:
            raise InputError(f"{key} must be a text or a list", where=place)
    return unwrapped(words)


def _variables(keys: Mapping[str, Any], name: str, document: YamlText, read_file: ReadFile) -> dict[str, Variable]:
    variables: dict[str, Variable] = {}
    for entry in as_list(keys.get("env_file")):
        file = entry.get("path") if isinstance(entry, dict) else entry
        text = read_file(str(file)) or ""
        variables.update({key: Variable(value, str(file)) for key, value in parse_env_file(text).items()})
    environment = keys.get("environment")
    if isinstance(environment, dict):
        for key, value in environment.items():
            place = document.place(("services", name, "environment", key))
            variables[key] = Variable(None if value is None else _plain(value), place)
    for index, entry in enumerate(environment if isinstance(environment, list) else ()):
        key, equals, value = _plain(entry).partition("=")
        variables[key] = Variable(value if equals else None, document.place(("services", name, "environment", index)))
    return variables


def _ports(keys: Mapping[str, Any], name: str, document: YamlText) -> list[PublishedPort]:
    ports = []
    for index, entry in enumerate(as_list(keys.get("ports"))):
        place = document.place(("services", name, "ports", index))
        if isinstance(entry, dict):
            published = entry.get("published")
            ports.append(
                PublishedPort(
                    str(entry.get("host_ip") or ANYWHERE),
                    None if published is None else str(published),
                    str(entry.get("target", "")),
                    place,
                )
            )
            continue
        address, _, rest = _plain(entry).partition("/")[0].rpartition(":")
        if not address:
            ports.append(PublishedPort(ANYWHERE, None, rest, place))
            continue
        host, _, published = address.rpartition(":")
        ports.append(PublishedPort(host.strip("[]") or ANYWHERE, published or None, rest, place))
    return ports


def _mounts(keys: Mapping[str, Any], name: str, document: YamlText) -> list[Mount]:
    mounts = []
    for index, entry in enumerate(as_list(keys.get("volumes"))):
        place = document.place(("services", name, "volumes", index))
        if isinstance(entry, dict):
            source = entry.get("source")
            mounts.append(
                Mount(
                    None if source is None else str(source),
                    str(entry.get("target", "")),
                    bool(entry.get("read_only")),
                    place,
                )
            )
            continue
        parts = _plain(entry).split(":")
        if len(parts) == 1:
            mounts.append(Mount(None, parts[0], read_only=False, where=place))
        else:
            options = parts[2].split(",") if len(parts) > 2 else []
            mounts.append(Mount(parts[0], parts[1], "ro" in options, place))
    return mounts


def _gpus(keys: Mapping[str, Any]) -> int | None:
    """Count the GPUs that a service reserves, in any of Compose's ways; -1 for all of them."""
    requests = as_list(keys.get("gpus"))
    deploy = keys.get("deploy")
    if isinstance(deploy, dict):
        resources = deploy.get("resources")
        reservations = resources.get("reservations") if isinstance(resources, dict) else None
        requests = requests + as_list(reservations.get("devices") if isinstance(reservations, dict) else None)
    total: int | None = None
    for request in requests:
        count = _reserved(request)
        if count is not None:
            total = -1 if -1 in (count, total) else (total or 0) + count
    if total is None and keys.get("runtime") == "nvidia":
        return -1
    return total


def _reserved(request: Any) -> int | None:
    if request == "all":
        return -1
    if not isinstance(request, dict):
        return request if isinstance(request, int) and not isinstance(request, bool) else None
    capabilities = str(request.get("capabilities", ""))
    if "gpu" not in capabilities and request.get("driver") not in ("nvidia", "cdi"):
        return None
    devices = request.get("device_ids")
    if isinstance(devices, list):
        return -1 if any(str(device).endswith("=all") for device in devices) else len(devices)
    count = request.get("count", "all")
    return -1 if count == "all" else int(count) if str(count).isdigit() else None


def as_list(value: Any) -> list[Any]:
    """Take one item for a list of one, as Compose does in most places."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _plain(value: Any) -> str:
    """Write a YAML scalar as Compose passes it on."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value)


def _list(names: Any, separator: str = ", ") -> str:
    return separator.join(map(str, names))
