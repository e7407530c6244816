"""Writes `compose.yaml` and `.env` from a plan: same plan, same bytes. Pure.

The first lines hold a digest of all that follows them, so that an edit by hand is noticed and never overwritten unseen.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.planning.container import DEFAULT_CACHES, gpus_needed
from seatrial.planning.plan import Plan
from seatrial.planning.rules import load_rules
from seatrial.planning.setting import Setting, text_of
from seatrial.runtimes.instance import PLAN_LABEL, STACK_LABEL
from seatrial.yaml_writing import block, scalar

WIDTH = 110
HEAD = (
    "# Written by seatrial from the stack file. Edit that one: a change here is noticed, and never overwritten unseen."
)
DIGEST = re.compile(r"^# seatrial-digest: sha256:([0-9a-f]{64})$", re.MULTILINE)

CACHES_WITHOUT_ROOT = "/engine-home/.cache"
KEY_MOUNT = "/run/secrets/engine.yaml"

START_PERIOD = "30m"
"""SGLang's socket opens only after weights, pools, graphs and kernels: 10 to 30 minutes cold for a large model."""
HEALTH_TIMEOUT = "25s"
"""`/health` generates a token and waits up to 20 s for it."""
STOP_GRACE = "2m"
"""On SIGTERM the engine finishes running answers, without a limit of its own."""

DEBUG_TOPIC = "debugging"


@dataclass(frozen=True, slots=True)
class Places:
    """Folders and files of the host, as the Compose file names them (relative to itself, or absolute).

    Attributes:
        store: the model store.
        jit_cache: compiled kernels.
        engine_config: the 0600 file with the API key; None without a key.
    """

    store: str
    jit_cache: str
    engine_config: str | None = None


def render_compose(plan: Plan, places: Places) -> str:
    """Write the Compose file of a plan."""
    body = "\n".join([*_service(plan, places), *_top_level(plan), ""])
    digest = hashlib.sha256(body.encode()).hexdigest()
    return f"{HEAD}\n# seatrial-digest: sha256:{digest}\n{body}"


def is_as_written(text: str) -> bool:
    """Whether a Compose file is still as `render_compose` wrote it."""
    found = DIGEST.search(text)
    if not found:
        return False
    body = text[found.end() + 1 :]
    return hashlib.sha256(body.encode()).hexdigest() == found[1]


def _service(plan: Plan, places: Places) -> list[str]:
    stack = plan.stack
    extra = stack.container.extra
    name = stack.container.service or stack.name
    lines = [
        f"name: {scalar(stack.name)}",
        "services:",
        f"  {scalar(name)}:",
        f"    image: {scalar(stack.engine.image)}",
    ]
    written: dict[str, list[str]] = {
        "container_name": [f"    container_name: {scalar(stack.name)}"],
        "labels": [
            "    labels:",
            f"      {STACK_LABEL}: {scalar(stack.name)}",
            f"      {PLAN_LABEL}: {scalar(plan.digest)}",
        ],
        "user": _user(plan),
        "deploy": _gpus(plan),
        "ipc": ["    ipc: host  # NCCL and the exchange between ranks need gibibytes of shared memory"],
        "ports": _ports(plan),
        "volumes": _volumes(plan, places),
        "environment": _environment(plan),
        "command": _command(plan),
        "healthcheck": _health(plan),
        "restart": ["    restart: unless-stopped  # SGLang's watchdog ends a hung server, and counts on this"],
        "stop_grace_period": [f"    stop_grace_period: {STOP_GRACE}  # running answers are finished first"],
        "logging": [
            "    logging:",
            "      driver: json-file",
            "      options:",
            '        max-size: "50m"',
            '        max-file: "5"',
        ],
    }
    merged = {"volumes", "ports"}
    if "shm_size" in extra or "network_mode" in extra:
        replaced = {"ipc"} if "shm_size" in extra else set()
        written = {key: value for key, value in written.items() if key not in replaced}
    for key, value in written.items():
        if key in extra and key not in merged:
            lines += block({key: extra[key]}, 2)
        elif not (key == "ports" and extra.get("network_mode") == "host"):
            lines += value
    rest = {key: value for key, value in extra.items() if key not in written}
    if rest:
        lines += ["    # as the stack file has it", *block(rest, 2)]
    return lines


def _top_level(plan: Plan) -> list[str]:
    top_level = {key: value for key, value in plan.stack.container.top_level.items() if key not in ("version", "name")}
    services = top_level.pop("services", None)
    lines = block(services, 1) if isinstance(services, Mapping) else []
    return lines + (block(top_level, 0) if top_level else [])


def _user(plan: Plan) -> list[str]:
    """Run as the owner of the stack, whose numbers stand in .env, where the stack asks for that."""
    return ['    user: "${SGLANG_UID}:${SGLANG_GID}"  # from .env'] if plan.stack.container.non_root else []


def _gpus(plan: Plan) -> list[str]:
    return [
        "    deploy:",
        "      resources:",
        "        reservations:",
        "          devices:",
        "            - driver: nvidia",
        f"              count: {gpus_needed({setting.name: setting.value for setting in plan.settings})}",
        "              capabilities: [gpu]",
    ]


def listens_on(plan: Plan) -> str:
    """Name the port that the engine listens on inside the container."""
    setting = plan.setting("--port")
    return text_of(setting.value) if setting else "30000"


def _ports(plan: Plan) -> list[str]:
    serve = plan.stack.serve
    address = f"[{serve.host}]" if ":" in serve.host else serve.host
    more = plan.stack.container.extra.get("ports")
    return [
        "    ports:",
        f"      - {scalar(f'{address}:{serve.port}:{listens_on(plan)}')}",
        *(block(more, 3) if isinstance(more, list) else []),
    ]


def _volumes(plan: Plan, places: Places) -> list[str]:
    home = plan.setting("HF_HOME")
    target = text_of(home.value) if home else "/hf-cache"
    caches = CACHES_WITHOUT_ROOT if plan.stack.container.non_root else DEFAULT_CACHES
    lines = [
        "    volumes:",
        f"      - {scalar(f'{places.store}:{target}')}  # models; HF_HOME",
        f"      - {scalar(f'{places.jit_cache}:{caches}')}  # compiled kernels, kept over restarts",
    ]
    if places.engine_config is not None:
        lines.append(f"      - {scalar(f'{places.engine_config}:{KEY_MOUNT}:ro')}  # the API key, mode 0600")
    more = plan.stack.container.extra.get("volumes")
    return lines + (block(more, 3) if isinstance(more, list) else [])


def _environment(plan: Plan) -> list[str]:
    lines = ["    environment:"]
    for setting in plan.settings:
        if not setting.is_flag:
            lines += _reason(setting, 6)
            lines.append(f"      {setting.name}: {_escaped(text_of(setting.value))}")
    for name, value in plan.stack.container.environment.items():
        lines.append(f"      {name}: {scalar(value)}")
    return lines if len(lines) > 1 else []


def _command(plan: Plan) -> list[str]:
    lines = ["    command:", "      - python3", "      - -m", "      - sglang.launch_server"]
    for setting in plan.settings:
        words = setting.arguments()
        if not words:
            continue
        lines += _reason(setting, 6)
        if len(words) == 2 and setting.name != "--config":  # the engine reads --config as a word of its own only
            words = ("=".join(words),)
        lines += [f"      - {_escaped(word)}" for word in words]
    return lines + _debug_toggle(plan)


def _debug_toggle(plan: Plan) -> list[str]:
    """Show the debug flags, ready to be switched on by hand without looking them up."""
    if plan.stack.debug:
        return []
    lines = ["      # Debug toggle (`debug: true` in the stack file): logs every request with its prompt."]
    for rule in load_rules("sglang"):
        if rule.topic == DEBUG_TOPIC:
            value = "" if rule.value is True else f"={rule.value}"
            lines.append(f"      # - {rule.setting}{value}")
    return lines


def _reason(setting: Setting, indent: int) -> list[str]:
    text = f"{setting.setting_class.value}: {setting.why}"
    return [f"{' ' * indent}# {line}" for line in textwrap.wrap(text, WIDTH - indent, break_long_words=False)]


def _health(plan: Plan) -> list[str]:
    return [
        "    healthcheck:",
        f'      test: ["CMD-SHELL", "curl -fsS http://localhost:{listens_on(plan)}/health || exit 1"]',
        "      interval: 30s",
        f"      timeout: {HEALTH_TIMEOUT}  # /health generates a token",
        "      retries: 3",
        f"      start_period: {START_PERIOD}  # a first start compiles kernels",
    ]


def _escaped(text: str) -> str:
    """Write a value so that Compose fills in nothing."""
    return scalar(text.replace("$", "$$"))


def render_env(user: int, group: int) -> str:
    """Write `.env`."""
    return "\n".join(
        [
            "# The account that owns the stack. Used only where the stack file asks for a container without root.",
            f"SGLANG_UID={user}",
            f"SGLANG_GID={group}",
            "",
        ]
    )


def difference(written: str, found: str, *, name: str) -> str:
    """Show how a file differs from what would be written."""
    return "".join(
        difflib.unified_diff(
            written.splitlines(keepends=True),
            found.splitlines(keepends=True),
            fromfile=f"{name} (as seatrial writes it)",
            tofile=f"{name} (as it is)",
        )
    )
