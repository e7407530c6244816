"""Takes out of a report what nobody else may read: secrets, host names, user names, addresses, prompts. Pure.

What stands beside its name (`api_key='…'`, `/home/…`, `gpu7:118:220 [1] NCCL`) is learned, and then removed everywhere.
Other secrets are known by their shape. Where it is not sure, it removes: a report with a hole is better than a leak.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import partial

from seatrial.endpoint.address import Secret
from seatrial.runs.redaction import Redactor

SECRET, HOST, USER, ADDRESS, PROMPT = (
    f"[{word} removed]" for word in ("secret", "host", "user", "address", "prompt or answer")
)

SHORTEST = 4
"""A shorter learned word is taken out only where its name stands beside it: everywhere it would tear up the text."""

_NAMES = (
    r"[\w.-]*(?:api[_-]?keys?|secrets?|passw(?:or)?ds?|passphrase|credentials?|private[_-]?key|access[_-]?key(?:[_-]?id)?)"
    r"|[\w.-]*(?:auth|access|refresh|hf|hub|bearer|session|bot|github|gitlab|slack|id)[_-]?tokens?"
    r"|\w*(?:_TOKEN|_KEY|_SECRET|_PASSWORD|_PASSWD|_CREDENTIALS?|_AUTH)|token|cookie|x-api-key|authorization"
)
_VALUE = r"(?P<value>\"(?:\\.|[^\"\\\n]){1,4000}\"|'(?:\\.|[^'\\\n]){1,4000}'|[^\s,;)}\]\"'&|]{1,4000})"
_LABELLED = re.compile(
    rf"(?i)(?<![\w-])[\"']?(?P<name>{_NAMES})[\"']?[ \t]*[:=][ \t]*(?:(?:Bearer|Basic|Token)[ \t]+)?{_VALUE}"
)
_FLAG = re.compile(rf"(?P<name>--[\w-]*(?:key|token|password|secret))(?:=|[ \t]+|[\"'],[ \t]*){_VALUE}")
_BEARER = re.compile(r"\b(?P<name>[Bb]earer|Basic)[ \t]+(?P<value>(?=[^\s\"']*\d|\S{16})[A-Za-z0-9._~+/=-]{6,4000})")
_NO_SECRET = re.compile(r"(?i)(?:none|null|true|false|\d{1,3}(?:\.\d+)?|set|unset|missing|required|not|is|\*+|…|\[.*)$")
_COUNT = re.compile(r"-?\d+(?:\.\d+)?$")

_SHAPES = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{8,}|gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{20,}|dckr_pat_[\w-]{16,}"
    r"|nvapi-[\w-]{16,}|pypi-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|r8_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}"
    r"|wandb_[A-Za-z0-9]{10,}|ya29\.[\w-]{10,}|GPU-[0-9a-f]{8}-[0-9a-f-]{20,}|MIG-[0-9a-f]{8}-[0-9a-f-]{20,})"
)
_TANGLED = re.compile(
    r"(?<![\w/.-])(?=[\w+/-]{24,})(?=(?:[^\s\d]*\d){4})(?=[^\sA-Z]*[A-Z])(?=[^\sa-z]*[a-z])[A-Za-z0-9_+/-]{24,}={0,2}"
)
"""A long word of mixed digits and letters of both cases: nobody chose it as a name."""
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}KEY-----.{0,8000}?(?:-----END [A-Z ]{0,40}KEY-----|\Z)", re.DOTALL)
_USERINFO = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]{1,20}://)(?P<value>[^\s/@'\"]{1,300})@")
_QUERY = re.compile(
    r"(?P<head>[?&](?:[\w-]*(?:key|token|secret|signature|password|sig|code|auth))=)(?P<value>[^&\s\"'<>\[]{1,2000})",
    re.IGNORECASE,
)

_ECHO = re.compile(
    r"(?P<head>\b(?:Receive|Finish)[\w ]{0,20}: obj=|Received request \S{1,80}: |Receive OpenAI request:?)(?P<value>.*)"
)
_FIELD = re.compile(
    r"(?P<head>(?<![\w.-])[\"']?(?:text|prompts?|messages?|content|input_ids|output_ids|input_text|origin_input_text|"
    r"origin_input_ids|output_text|reasoning_content|arguments|completion|system|instructions|query|input|output)[\"']?"
    r"\s*[:=]\s*(?=[\"'\[{]))(?P<value>.*)"
)
_LENGTH = re.compile(r"len\(req\.origin_input_ids\)=\d+")

_HOST_LABELS = (
    re.compile(r"(?<![\w.-])(?P<value>[A-Za-z][\w.-]{0,100}):\d+:\d+ \[\d+\] "),  # NCCL
    re.compile(r"\b[A-Z][a-z]{2} [ 0-3]?\d \d\d:\d\d:\d\d (?P<value>\S{1,100}) [\w./@-]+\[\d+\]: "),  # a journal
    re.compile(
        r"(?i)\b(?:host ?name|node(?: ?name)?|server ?name|machine)[\"']?\s*[:=]\s*[\"']?(?P<value>[\w.-]{2,100})"
    ),
    re.compile(r"\b\w*(?:host|addr|address|_ip|url)=[\"'](?:\w+://)?(?P<value>[A-Za-z][\w.-]{1,100})"),
    re.compile(r"--(?:host|dist-init-addr|nccl-init-addr|\w+-addr)[= ]+(?P<value>[A-Za-z][\w.-]{1,100})"),
    re.compile(
        r"\b(?:https?|tcp|ssh|redis|postgres\w*|grpc|amqp|nats|s3|ftp|wss?)://(?:[^\s/@]*@)?"
        r"(?P<value>[A-Za-z][\w.-]{0,200})(?![^\s/]*@)"
    ),
    re.compile(r"(?<![\w.])[A-Za-z_][\w.-]{0,60}@(?P<value>[A-Za-z][\w.-]{1,200})"),
    re.compile(
        r"\b(?:connect(?:ed|ing)? to|from|lookup|resolve|listening on|host) [\"']?"
        r"(?P<value>[A-Za-z][\w-]*[\d-][\w.-]*)(?=:\d|[\"'\s]|$)"
    ),
)
_USER_LABELS = (
    re.compile(r"(?:/home|/Users|/export/home|C:\\Users)[/\\](?P<value>[^/\\\s:'\",;)\[]{1,64})"),
    re.compile(
        r"(?i)\b(?:user(?: ?name)?|login|logname|owner|account|sudo_user)[\"']?\s*[:=]\s*[\"']?"
        r"(?P<value>[A-Za-z_][\w.-]{0,63})"
    ),
    re.compile(r"\b(?:uid|gid)=\d+\((?P<value>[^)\s]{1,64})\)"),
    re.compile(r"(?<![\w.])(?P<value>[A-Za-z_][\w.-]{0,60})@[A-Za-z][\w.-]{1,200}"),
    re.compile(r"\b(?:for|as|by) user [\"']?(?P<value>[A-Za-z_][\w.-]{0,63})"),
)
_DOMAIN = re.compile(
    r"(?:(?<![\w/.@-])|(?<=//))(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+(?:com|net|org|io|dev|local|lan|internal"
    r"|corp|intra|intranet|home|example|test|invalid|cloud|ai|edu|gov|mil|eu|de|fr|uk|ch|nl|pl|se|fi|cz|jp|cn|kr|us|ca|au"
    r"|br|info|biz|arpa|private|site|tech|app|sh|co)(?![\w-]|\.\w)"
)
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:%\w+)?(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9][\w.-]{1,200}")

PUBLIC_HOSTS = frozenset(
    {
        "huggingface.co", "hf.co", "github.com", "docker.io", "docker.com", "ghcr.io", "nvcr.io", "quay.io",
        "pytorch.org", "nvidia.com", "python.org", "modelscope.cn", "flashinfer.ai", "sglang.ai", "vllm.ai",
        "readthedocs.io", "kernel.org", "debian.org", "ubuntu.com", "triton-lang.org", "localhost",
    }
)  # fmt: skip
"""Hosts that everybody knows: an error about them is worth reading."""
COMMON_USERS = frozenset(
    {"root", "admin", "user", "users", "none", "unknown", "nobody", "owner", "id", "name", "app", "the", "not", "git"}
)
COMMON_HOSTS = frozenset(
    {
        *("localhost", "none", "host", "node", "server", "huggingface", "docker", "container", "unknown"),
        *("the", "not", "a", "is", "sglang"),
    }
)


class ReportRedactor:
    """Removes what it was told, what it learned, and what looks like it.

    Args:
        secrets: values that are known to be secret.
        hosts: names of this machine.
        users: names of accounts.
    """

    def __init__(self, secrets: Iterable[str] = (), hosts: Iterable[str] = (), users: Iterable[str] = ()) -> None:
        self._secrets = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._hosts = {host for host in hosts if len(host) >= 2 and host.lower() not in COMMON_HOSTS}
        self._users = {user for user in users if len(user) >= 2 and user.lower() not in COMMON_USERS}

    def learn(self, text: str) -> None:
        """Take note of what stands beside its name, so that it is removed where it stands alone too."""
        for pattern in (_LABELLED, _FLAG, _BEARER, _QUERY):
            for match in pattern.finditer(text):
                if _is_secret(match):
                    self._secrets.add(match["value"].strip("\"'"))
        for match in _USERINFO.finditer(text):
            self._secrets.update(part for part in match["value"].split(":")[1:] if len(part) >= SHORTEST)
            self._users.update(part for part in match["value"].split(":")[:1] if len(part) >= SHORTEST)
        for pattern in _HOST_LABELS:
            for match in pattern.finditer(text):
                host = match["value"].rstrip(".-")
                if len(host) >= 3 and not _is_public(host) and not host.lower().startswith(("python", "lib")):
                    self._hosts.add(host)
        for pattern in _USER_LABELS:
            for match in pattern.finditer(text):
                if len(match["value"]) >= 2 and match["value"].lower() not in COMMON_USERS:
                    self._users.add(match["value"])

    def secrets_only(self, text: str) -> str:
        """Remove secrets and prompts, and keep hosts, users and addresses: for this machine's own screen."""
        text = _PRIVATE_KEY.sub(SECRET, text)
        text = Redactor(map(Secret, self._secrets))(text)
        text = _USERINFO.sub(rf"\g<scheme>{SECRET}@", text)
        text = _QUERY.sub(rf"\g<head>{SECRET}", text)
        for pattern in (_LABELLED, _FLAG, _BEARER):
            text = pattern.sub(_hide_value, text)
        text = _SHAPES.sub(SECRET, text)
        return "\n".join(_hide_prompts(line) for line in text.split("\n"))

    def __call__(self, text: str) -> str:
        """Remove everything that a stranger must not read."""
        text = self.secrets_only(text)
        text = _TANGLED.sub(SECRET, text)
        text = _MAIL.sub(_keep_image, text)
        text = _words(self._users, USER, text)
        text = _words(self._hosts, HOST, text)
        text = _DOMAIN.sub(lambda match: match[0] if _is_public(match[0]) else HOST, text)
        text = _USER_LABELS[0].sub(partial(_hide_group, mark=USER), text)
        text = _MAC.sub(ADDRESS, text)
        text = _IPV6.sub(_hide_address, text)
        return _IPV4.sub(_hide_address, text)


def _is_secret(match: re.Match[str]) -> bool:
    """Whether the value beside a secret's name is one, and not a count, a word, or a hole."""
    value = match["value"].strip("\"'")
    if len(value) < SHORTEST or _NO_SECRET.match(value):
        return False
    name = (match.groupdict().get("name") or "").lower()
    return not (name.endswith(("token", "tokens")) and "_token" not in name and _COUNT.match(value))


def _hide_value(match: re.Match[str]) -> str:
    if _NO_SECRET.match(match["value"].strip("\"'")):
        return match[0]
    if match["name"].lower() == "token" and _COUNT.match(match["value"]):
        return match[0]
    quote = match["value"][0] if match["value"][0] in "\"'" else ""
    return _hide_group(match, f"{quote}{SECRET}{quote}")


def _hide_group(match: re.Match[str], mark: str) -> str:
    begin, end = match.span("value")
    return f"{match[0][: begin - match.start()]}{mark}{match[0][end - match.start() :]}"


def _hide_prompts(line: str) -> str:
    """Cut a line where a client's words begin: where they end can't be told."""
    if match := _ECHO.search(line):
        return f"{line[: match.start('value')]}{PROMPT}"
    if "server_args=" not in line and (match := _FIELD.search(line)) and not _LENGTH.search(line):
        return f"{line[: match.start('value')]}{PROMPT}"
    return line


def _words(values: Iterable[str], mark: str, text: str) -> str:
    """Replace whole words, the longest first."""
    for value in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", mark, text, flags=re.IGNORECASE)
    return text


def _is_public(host: str) -> bool:
    name = host.lower().rstrip(".")
    return name in COMMON_HOSTS or any(name == known or name.endswith(f".{known}") for known in PUBLIC_HOSTS)


def _keep_image(match: re.Match[str]) -> str:
    """Keep `image@sha256:…`; everything else with an @ is somebody's address."""
    return match[0] if match[0].endswith("@sha256") else ADDRESS


def _hide_address(match: re.Match[str]) -> str:
    try:
        address = ipaddress.ip_address(match[0].split("%")[0])
    except ValueError:
        return match[0]
    return match[0] if address.is_loopback or address.is_unspecified else ADDRESS
