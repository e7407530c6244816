"""The stack file's shape: what the user wants, typed. `reading.py` makes it from text; editors get its JSON Schema."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Reason = Annotated[str, StringConstraints(min_length=3, strip_whitespace=True)]
FlagName = Annotated[str, StringConstraints(pattern=r"^--[A-Za-z0-9][A-Za-z0-9_-]*$")]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
PortNumber = Annotated[int, Field(ge=1, le=65_535)]

VERSION_IN_TAG = re.compile(r":v?([0-9]+\.[0-9]+(?:\.[0-9]+)?(?:\.?(?:post|rc|dev)[0-9]+)?)(?:[-.+][\w.+-]*)?(?:@|\Z)")


class Part(BaseModel):
    """What all parts of the stack share: no unknown keys, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Engine(Part):
    """The engine that serves the model."""

    kind: Literal["sglang"] = Field(
        default="sglang", description="Which engine; SGLang is the one that plans are made for."
    )
    image: Text = Field(
        default="lmsysorg/sglang:v0.5.16",
        description="The container's image, with a pinned tag or digest; `latest` is an error.",
    )
    environment: Text | None = Field(
        default=None,
        description="For evaluation, no container: a Python environment that has the engine; it runs as a process.",
    )
    version: Text | None = Field(
        default=None,
        description="Its version, where the image's tag does not say it (a digest, an image of your own).",
    )

    @property
    def provider(self) -> str:
        """What the engine comes out of: the environment where one is named, else the image."""
        return self.environment or self.image

    @property
    def resolved_version(self) -> str | None:
        """The version as stated, or as the image's tag says it; None where neither does."""
        if self.version:
            return self.version.removeprefix("v")
        if self.environment is not None:
            return None
        found = VERSION_IN_TAG.search(self.image)
        return found[1] if found else None


class Model(Part):
    """The checkpoint."""

    repo: Text = Field(description="`owner/name` on the Hub, or the path of a folder inside the container.")
    revision: Text | None = Field(
        default=None, description="Branch, tag or commit; it is resolved to a commit, and that is what gets proven."
    )
    served_name: Text | None = Field(default=None, description="The name that clients send; without it, `repo`.")
    trust_remote_code: bool = Field(
        default=False, description="Run Python code that the repository brings. Off unless the model can't do without."
    )


class Serve(Part):
    """Where and how the server can be reached."""

    host: Text = Field(
        default="127.0.0.1", description="Address that the port is published on. 0.0.0.0 needs api_key_file."
    )
    port: PortNumber = Field(default=30_000, description="Published port.")
    context_length: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Longest request in tokens, prompt and answer together; without it, the model's own."
    )
    tensor_parallel: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="GPUs that share each layer; without it, all GPUs of the host."
    )
    api_key_file: Text | None = Field(
        default=None, description="File (mode 0600) that holds the API key; it reaches the engine as a mounted file."
    )

    @property
    def reachable_host(self) -> str:
        """Where a program on this machine reaches it: an address that means every interface is none to connect to."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - compared only

    @property
    def origin(self) -> str:
        """Scheme, host and port for a program on this machine."""
        host = f"[{self.reachable_host}]" if ":" in self.reachable_host else self.reachable_host
        return f"http://{host}:{self.port}"


class Policy(Part):
    """What was decided, and by whom."""

    over_long_input: Literal["reject", "truncate"] = Field(
        default="reject", description="Input that does not fit: a clear error, or cut without a word to the client."
    )
    over_long_input_owner: Text | None = Field(default=None, description="Who decided to cut input, and when.")
    prove: Literal["quick", "standard", "deep"] = Field(
        default="standard", description="Suite that must be proven first."
    )


class Override(Part):
    """One setting that the user decides, with the reason."""

    flag: FlagName | None = Field(default=None, description="The engine's flag, e.g. `--mem-fraction-static`.")
    variable: VariableName | None = Field(default=None, description="Or an environment variable.")
    value: JsonValue = Field(default=True, description="Its value; `true` for a flag that takes none.")
    omit: bool = Field(default=False, description="Leave the flag or variable out although a rule would set it.")
    why: Reason = Field(description="Why; whoever reads this stack next year will want to know.")

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if (self.flag is None) == (self.variable is None):
            raise ValueError("name either a flag or a variable, not both and not none")
        return self

    @property
    def name(self) -> str:
        """The flag or the variable."""
        return self.flag or self.variable or ""


class Container(Part):
    """What differs from the container that seatrial would write. Everything here is passed on to Compose as it is."""

    non_root: bool = Field(
        default=False,
        description="Experiment: run as SGLANG_UID:SGLANG_GID of .env, with a HOME of its own, not as root.",
    )
    service: Name | None = Field(default=None, description="The service's name; without it, the stack's name.")
    environment: dict[VariableName, str] = Field(
        default_factory=dict, description="Environment variables that are not the engine's own."
    )
    extra: dict[str, JsonValue] = Field(
        default_factory=dict, description="Keys of the Compose service that seatrial does not write itself."
    )
    top_level: dict[str, JsonValue] = Field(
        default_factory=dict, description="Top-level keys of the Compose file: networks, volumes, other services."
    )


class Stack(Part):
    """One stack: one model behind one engine on one host."""

    name: Name = Field(description="The stack's name; container, ledger and reports use it.")
    engine: Engine = Field(default_factory=Engine)
    model: Model
    serve: Serve = Field(default_factory=Serve)
    store: Text = Field(default="../hf-cache", description="Folder of models: HF_HOME of the container.")
    jit_cache: Text = Field(default="../jit-cache", description="Folder of compiled kernels, kept over restarts.")
    ledger: Text = Field(default="../ledger", description="Folder of verdicts and of the runs behind them.")
    policy: Policy = Field(default_factory=Policy)
    debug: bool = Field(
        default=False, description="Switch on the three flags that log every request. They log prompts."
    )
    settings: list[Override] = Field(default_factory=list, description="Settings that you decide, with reasons.")
    container: Container = Field(default_factory=Container)

    @model_validator(mode="after")
    def _each_setting_once(self) -> Self:
        names = [override.name for override in self.settings]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"settings name {twice[0]} twice; keep one of the two")
        return self
