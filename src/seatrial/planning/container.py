"""Findings about a hand-written container: GPUs, ports, shared memory, health check, caches, secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.findings import Finding, Level
from seatrial.launches.launch import Launch, Mount, Service
from seatrial.planning.policies import about_image, about_port, secret_in_the_open
from seatrial.planning.setting import Value

ENGINE_PORT = 30_000
"""SGLang's default (0.5.16, server_args.py:1055)."""

SHORTEST_START_SECONDS = 600
"""A cold start compiles kernels: 160 s were measured on an H200 with 16 cores for one model, and large ones are said to
take 10 to 30 minutes; a shorter period calls a starting server unhealthy."""

HEALTH_TIMEOUT_SECONDS = 20
"""`/health` generates a token and waits up to 20 s for it (0.5.16, SGLANG_HEALTH_CHECK_TIMEOUT)."""

SMALLEST_SHM_BYTES = 8 << 30
"""NCCL, the broadcast between ranks and images share it; SGLang's own Compose files take the host's (`ipc: host`)."""

DEFAULT_STOP_SECONDS = 10
"""Docker's own, when nothing is stated."""

SECRET_NAMES = re.compile(r"(TOKEN|API_?KEY|SECRET|PASSWORD)S?\Z")
UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}
SPAN = re.compile(r"([0-9.]+)(h|ms|us|m|s)")
SPAN_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6}

DEFAULT_CACHES = "/root/.cache"
DEFAULT_HUB = "/root/.cache/huggingface"


def about_container(
    launch: Launch, values: Mapping[str, Value], *, version_known: bool, has_key: bool
) -> Iterator[Finding]:
    """Find what is missing or dangerous around the engine.

    Args:
        launch: what was read.
        values: the engine's flags and variables, by canonical name.
        version_known: whether the engine's version is known.
        has_key: whether the server asks for an API key.
    """
    yield from _secrets(launch)
    service = launch.service
    if service is None:
        host = str(values.get("--host", "127.0.0.1"))
        if found := about_port(host, has_key=has_key, where=launch.where):
            yield found
        return
    if service.image is not None and (
        found := about_image(service.image, version_known=version_known, where=service.line("image"))
    ):
        yield found
    yield from _unset(service)
    yield from _gpus(service, values)
    yield from _ports(service, values, has_key=has_key)
    yield from _shared_memory(service, values)
    yield from _health(service, values)
    yield from _life(service)
    yield from _caches(launch, service)


def _secrets(launch: Launch) -> Iterator[Finding]:
    for index, word in enumerate(launch.words):
        name, equals, value = word.text.partition("=")
        if name not in ("--api-key", "--admin-api-key", "--ssl-keyfile-password"):
            continue
        if not equals:
            value = launch.words[index + 1].text if index + 1 < len(launch.words) else ""
        if value and not value.startswith("-"):
            yield secret_in_the_open(name, where=word.where)
    for name, variable in launch.variables.items():
        if variable.value and SECRET_NAMES.search(name) and not name.endswith("_FILE"):
            yield secret_in_the_open(name, where=variable.where)


def _unset(service: Service) -> Iterator[Finding]:
    for name in service.unset:
        yield Finding(
            Level.WARNING,
            "variable-not-set",
            f"${{{name}}} has no value here, so it becomes empty",
            f"Set {name} in .env beside the file, or give it a default: ${{{name}:-value}}.",
            where=service.where,
        )


def _gpus(service: Service, values: Mapping[str, Value]) -> Iterator[Finding]:
    if values.get("--device") == "cpu":
        return
    needed = gpus_needed(values)
    if service.gpus is None:
        yield Finding(
            Level.ERROR,
            "no-gpu-reserved",
            "the service reserves no GPU, so the container sees none",
            "Add deploy.resources.reservations.devices with driver nvidia, count and capabilities [gpu].",
            where=service.where,
        )
    elif 0 <= service.gpus < needed:
        yield Finding(
            Level.ERROR,
            "too-few-gpus-reserved",
            f"the service reserves {service.gpus} of the {needed} GPUs that the engine is told to use",
            f"Reserve {needed}.",
            "--tp-size",
            service.line("deploy"),
        )
    visible = service.keys.get("environment")
    if isinstance(visible, dict) and "GPU-" in str(visible.get("CUDA_VISIBLE_DEVICES", "")):
        yield Finding(
            Level.WARNING,
            "gpu-uuids",
            "CUDA_VISIBLE_DEVICES holds UUIDs, which SGLang reads as numbers",
            "Reserve the cards with device_ids instead.",
            "CUDA_VISIBLE_DEVICES",
            service.line("environment"),
        )


def gpus_needed(values: Mapping[str, Value]) -> int:
    """Count the GPUs that the engine uses on this node; attention's copies share those of tensor parallelism."""
    needed = 1
    for name in ("--tp-size", "--pp-size"):
        value = values.get(name, 1)
        needed *= value if isinstance(value, int) else 1
    copies = values.get("--dp-size", 1)
    if isinstance(copies, int) and not values.get("--enable-dp-attention"):
        needed *= copies
    nodes = values.get("--nnodes", 1)
    return needed // (nodes if isinstance(nodes, int) and nodes > 0 else 1)


def _ports(service: Service, values: Mapping[str, Value], *, has_key: bool) -> Iterator[Finding]:
    if service.keys.get("network_mode") == "host":
        if found := about_port(
            str(values.get("--host", "127.0.0.1")), has_key=has_key, where=service.line("network_mode")
        ):
            yield found
        return
    listens = str(values.get("--port", ENGINE_PORT))
    for port in service.ports:
        if port.target == listens and (found := about_port(port.address, has_key=has_key, where=port.where)):
            yield found
    targets = {port.target for port in service.ports}
    if targets and listens not in targets and not any("-" in target for target in targets):
        yield Finding(
            Level.ERROR,
            "port-not-published",
            f"the engine listens on {listens}, and the published port leads to {', '.join(sorted(targets))}",
            f"Publish {listens}, or set --port.",
            "--port",
            service.ports[0].where,
        )


def _shared_memory(service: Service, values: Mapping[str, Value]) -> Iterator[Finding]:
    if service.keys.get("ipc") == "host" or any(mount.target == "/dev/shm" for mount in service.mounts):  # noqa: S108
        return
    ranks = gpus_needed(values)
    stated = service.keys.get("shm_size")
    size = parse_bytes(stated)
    if size is not None and size >= SMALLEST_SHM_BYTES:
        return
    what = "Docker's 64 MiB" if stated is None else str(stated)
    yield Finding(
        Level.ERROR if ranks > 1 and stated is None else Level.WARNING,
        "small-shared-memory",
        f"shared memory (/dev/shm) is {what}: NCCL, the exchange between ranks and images need gibibytes of it",
        "Add `ipc: host`, or `shm_size: 16g`.",
        where=service.line("shm_size"),
    )


def _health(service: Service, values: Mapping[str, Value]) -> Iterator[Finding]:
    check = service.keys.get("healthcheck")
    place = service.line("healthcheck")
    if not isinstance(check, dict) or check.get("disable") is True:
        yield Finding(
            Level.WARNING,
            "no-health-check",
            "there is no health check, so Docker can't tell a serving container from a starting or a hung one",
            "Add one that asks /health, with start_period: 30m.",
            where=service.where,
        )
        return
    start = parse_seconds(check.get("start_period"))
    if start is None or start < SHORTEST_START_SECONDS:
        stated = (
            "no start_period" if check.get("start_period") is None else f"a start_period of {check['start_period']}"
        )
        yield Finding(
            Level.WARNING,
            "short-start-period",
            f"the health check has {stated}: a first start compiles for minutes, and is called unhealthy meanwhile",
            "Set start_period: 30m.",
            where=place,
        )
    timeout = parse_seconds(check.get("timeout"))
    if timeout is not None and timeout < HEALTH_TIMEOUT_SECONDS:
        yield Finding(
            Level.NOTE,
            "short-health-timeout",
            f"the health check waits {check['timeout']}; /health generates a token in up to {HEALTH_TIMEOUT_SECONDS} s",
            "Set timeout: 25s.",
            where=place,
        )
    listens = str(values.get("--port", ENGINE_PORT))
    asked = re.search(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d+)", str(check.get("test", "")))
    if asked and asked[1] != listens:
        yield Finding(
            Level.ERROR,
            "health-check-asks-elsewhere",
            f"the health check asks port {asked[1]}, and the engine listens on {listens}",
            f"Ask http://localhost:{listens}/health.",
            "--port",
            place,
        )


def _life(service: Service) -> Iterator[Finding]:
    restart = service.keys.get("restart")
    if restart in (None, "no", False):
        yield Finding(
            Level.NOTE,
            "no-restart-policy",
            "nothing restarts the container: SGLang's watchdog ends a hung server and counts on that",
            "Add `restart: unless-stopped`.",
            where=service.line("restart"),
        )
    grace = parse_seconds(service.keys.get("stop_grace_period"))
    if grace is None or grace <= DEFAULT_STOP_SECONDS:
        yield Finding(
            Level.NOTE,
            "short-stop-grace-period",
            f"Docker kills the server {int(grace or DEFAULT_STOP_SECONDS)} s after asking it to stop, amid its answers",
            "Add `stop_grace_period: 2m`.",
            where=service.line("stop_grace_period"),
        )
    logging = service.keys.get("logging")
    options = logging.get("options") if isinstance(logging, dict) else None
    if not (isinstance(options, dict) and "max-size" in options) and not (
        isinstance(logging, dict) and logging.get("driver") in ("local", "journald", "none", "syslog")
    ):
        yield Finding(
            Level.NOTE,
            "unbounded-log",
            "nothing bounds the log, and the engine writes a line every few decoding steps",
            'Add logging.options with max-size: "50m" and max-file: "5".',
            where=service.line("logging"),
        )
    if service.keys.get("privileged") is True:
        yield Finding(
            Level.WARNING,
            "privileged",
            "the container is privileged: whatever runs in it is root on the host",
            "Take it out; a GPU reservation needs no privileges.",
            where=service.line("privileged"),
        )


def _caches(launch: Launch, service: Service) -> Iterator[Finding]:
    def value(name: str) -> str | None:
        variable = launch.variables.get(name)
        return variable.value if variable else None

    home, hub = value("HF_HOME"), value("HF_HUB_CACHE")
    where_home = launch.variables["HF_HOME"].where if "HF_HOME" in launch.variables else service.line("volumes")
    weights = hub or f"{(home or DEFAULT_HUB).rstrip('/')}/hub"
    mount = _mount_of(weights, service.mounts)
    local_model = any(word.text.startswith("/") and _mount_of(word.text, service.mounts) for word in launch.words)
    if mount is None and not local_model:
        yield Finding(
            Level.ERROR,
            "weights-not-persisted",
            f"nothing is mounted at {weights}: the weights are downloaded into the container, and lost with it",
            "Mount the model store, and set HF_HOME to where it is mounted.",
            "HF_HOME",
            where_home,
        )
    if home and home.rstrip("/").endswith("/hub"):
        yield Finding(
            Level.ERROR,
            "hf-home-is-the-hub",
            f"HF_HOME is {home}: Hugging Face keeps models in HF_HOME/hub, so it looks in {weights}",
            f"Set HF_HOME to {home.rstrip('/').removesuffix('/hub')}.",
            "HF_HOME",
            where_home,
        )
    elif mount is not None and mount.source and not hub:
        source, target = mount.source.rstrip("/"), mount.target.rstrip("/")
        if source.endswith("/hub") and not target.endswith("/hub"):
            yield Finding(
                Level.ERROR,
                "hub-mounted-as-home",
                f"{mount.source} is mounted at {mount.target}, which is HF_HOME: models are looked for in {weights}",
                f"Mount {source.removesuffix('/hub')} there instead.",
                "HF_HOME",
                mount.where,
            )
    if mount is not None and mount.read_only and value("HF_HUB_OFFLINE") not in ("1", "true"):
        yield Finding(
            Level.NOTE,
            "read-only-store",
            "the model store is mounted read-only, and the engine may want to write to it",
            "Set HF_HUB_OFFLINE=1 beside it.",
            "HF_HUB_OFFLINE",
            mount.where,
        )
    if _mount_of(f"{DEFAULT_CACHES}/sglang", service.mounts) is None and not any(
        value(name) and _mount_of(value(name) or "", service.mounts)
        for name in ("SGLANG_CACHE_DIR", "TVM_FFI_CACHE_DIR")
    ):
        yield Finding(
            Level.WARNING,
            "caches-not-persisted",
            "compiled kernels are lost with the container: every new one compiles for minutes, and at first requests",
            f"Mount a folder at {DEFAULT_CACHES}, and set TRITON_CACHE_DIR={DEFAULT_CACHES}/triton.",
            where=service.line("volumes"),
        )


def _mount_of(path: str, mounts: tuple[Mount, ...]) -> Mount | None:
    """Find the mount that a path of the container lies in, the deepest first."""
    found = [mount for mount in mounts if f"{path.rstrip('/')}/".startswith(f"{mount.target.rstrip('/')}/")]
    return max(found, key=lambda mount: len(mount.target), default=None)


def parse_bytes(value: Any) -> int | None:
    """Read a size as Compose writes it: `16g`, `512mb`, a number of bytes. None where it is none."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmg]?b?)\s*", str(value).lower()) if value is not None else None
    return int(float(found[1]) * UNITS[found[2]]) if found else None


def parse_seconds(value: Any) -> float | None:
    """Read a duration as Compose writes it: `1m30s`, `90s`. None where it is none."""
    if value is None:
        return None
    text = str(value).strip()
    spans = SPAN.findall(text)
    if not spans or "".join(number + unit for number, unit in spans) != text:
        return None
    try:
        return sum(float(number) * SPAN_SECONDS[unit] for number, unit in spans)
    except ValueError:
        return None
