"""Findings about what was decided: image, port, key, over-long input, checkpoint, numbers. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping

from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.facts.reported import reported_about
from seatrial.findings import Finding, Level
from seatrial.planning.setting import Value
from seatrial.planning.vocabulary import DTYPES, kernel_here
from seatrial.stack.model import Stack

COMMIT = re.compile(r"[0-9a-f]{40}\Z")
KEY_FLAGS = ("--api-key", "--admin-api-key", "--ssl-keyfile-password")


def about_stack(stack: Stack, *, version_known: bool) -> list[Finding]:
    """Find what a stack file leaves open or dangerous."""
    findings = [
        None if stack.engine.environment else about_image(stack.engine.image, version_known=version_known),
        about_port(stack.serve.host, has_key=stack.serve.api_key_file is not None),
        about_reports(stack.model.repo),
    ]
    if stack.policy.over_long_input == "truncate":
        findings.append(about_truncation(stack.policy.over_long_input_owner))
    if not COMMIT.match(stack.model.revision or "") and not stack.model.repo.startswith(("/", ".")):
        findings.append(
            Finding(
                Level.NOTE,
                "revision-not-a-commit",
                f"model.revision is {stack.model.revision or 'not given'}, which can point to other weights tomorrow",
                "`seatrial up` records the commit; write it here to keep it.",
            )
        )
    if stack.debug:
        findings.append(
            Finding(
                Level.WARNING,
                "requests-are-logged",
                "debug is on: every prompt and answer is written to the log",
                "Switch it off when the incident is over.",
                "--log-requests",
            )
        )
    findings += [secret_in_the_open(override.name) for override in stack.settings if override.name in KEY_FLAGS]
    return [finding for finding in findings if finding]


def about_image(image: str, *, version_known: bool, where: str | None = None) -> Finding | None:
    """Judge how firmly an image is pinned."""
    name, _, digest = image.partition("@")
    tag = name.rsplit("/", 1)[-1].partition(":")[2]
    if digest and version_known:
        return None
    if not digest and tag in ("", "latest", "dev", "nightly", "main"):
        return Finding(
            Level.ERROR,
            "unpinned-image",
            f"the image {image} is not pinned: another engine may answer after any restart",
            "Name a version, e.g. lmsysorg/sglang:v0.5.16, or a digest.",
            where=where,
        )
    if not version_known:
        return Finding(
            Level.WARNING,
            "unknown-engine-version",
            f"the image {image} does not say which version of the engine it holds; the newest known one is assumed",
            "Say it: engine.version in the stack file, --engine-version on the command line.",
            where=where,
        )
    return None


def about_port(host: str, *, has_key: bool, where: str | None = None) -> Finding | None:
    """Judge who can reach the port."""
    if has_key or is_loopback(host):
        return None
    return Finding(
        Level.ERROR,
        "open-port-without-key",
        f"the port is published on {host} without an API key: everybody who can reach this host can use the server",
        "Publish it on 127.0.0.1, or give the server an API key (serve.api_key_file).",
        where=where,
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def about_truncation(owner: str | None, *, where: str | None = None) -> Finding:
    """Say what cutting over-long input means, and whether somebody answers for it."""
    message = (
        "over-long input is cut silently: its end is dropped, with the user's last turn, and the client gets HTTP 200 "
        "with an empty answer"
    )
    if owner:
        return Finding(
            Level.NOTE,
            "silent-truncation",
            f"{message}; decided by {owner}",
            "`prove` holds the server to it.",
            "--allow-auto-truncate",
            where,
        )
    return Finding(
        Level.WARNING,
        "silent-truncation",
        f"{message}; nobody is named who decided that",
        "Take --allow-auto-truncate out, or write policy.over_long_input_owner: who decided it, and when.",
        "--allow-auto-truncate",
        where,
    )


def about_reports(model: str, *, where: str | None = None) -> Finding | None:
    """Say what others report about a checkpoint."""
    report = reported_about(model)
    if report is None or report.verdict == "clean":
        return None
    seen = f" on {', '.join(report.engines)}" if report.engines else ""
    clean = f"; clean on {', '.join(report.clean_on)}" if report.clean_on else ""
    word = "is reported broken" if report.verdict == "broken" else "has doubtful reports"
    return Finding(
        Level.WARNING,
        f"reported-{report.verdict}",
        f"{report.repo} {word}{seen}{clean}: {report.symptom} ({'; '.join(report.sources)})",
        "Prove it before anyone relies on it: `seatrial prove` looks into the reasoning too.",
        "--model-path",
        where,
    )


def secret_in_the_open(name: str, *, where: str | None = None) -> Finding:
    """Say that a secret stands where others can read it."""
    return Finding(
        Level.ERROR,
        "secret-in-the-open",
        f"{name} stands in the file: whoever reads it, `docker inspect` or the list of processes has the secret",
        "Put it into a file of mode 0600 and name that in serve.api_key_file.",
        name if name.startswith("--") else None,
        where,
    )


def about_model(model: ModelFacts | None, host: HostFacts | None, values: Mapping[str, Value]) -> list[Finding]:
    """Find where checkpoint, numbers and GPU do not go together."""
    if model is None:
        return [
            Finding(
                Level.NOTE,
                "model-unknown",
                "nothing is known about the checkpoint, so nothing that depends on it can be told",
                "Give its facts (--facts FILE), its folder, or a store that holds it (--store).",
            )
        ]
    kernel = kernel_here(values, model, host)
    if kernel is None:
        return []
    findings = []
    dtype = str(values.get("--dtype", "auto"))
    dtype = model.dtype if dtype == "auto" else DTYPES.get(dtype, dtype)
    if dtype not in kernel.dtypes:
        findings.append(
            Finding(
                Level.ERROR,
                "dtype-not-supported",
                f"{kernel.method} does not compute in {dtype}: the engine ends with a ValueError",
                f"Use --dtype {kernel.dtypes[0]}.",
                "--dtype",
            )
        )
    capability = host.compute_capability if host else None
    if capability is not None and capability < kernel.oldest:
        findings.append(
            Finding(
                Level.ERROR,
                "gpu-too-old",
                f"{kernel.method} needs compute capability {_dotted(kernel.oldest)}, and the oldest GPU has "
                f"{_dotted(capability)}",
                "Take another quantization, or newer GPUs.",
            )
        )
    if model.experts and not kernel.experts:
        findings.append(
            Finding(
                Level.ERROR,
                "no-kernel-for-experts",
                f"{kernel.method} has no kernel for a mixture of experts",
                "Use --quantization moe_wna16, or another checkpoint.",
                "--quantization",
            )
        )
    return findings


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"
