"""Which files of a repository are loaded: weights as safetensors and what belongs to them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePosixPath

from seatrial.store.layout import ListedFile

PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".npy", ".npz", ".mar")
"""Formats that run code when they are loaded, or may."""
OTHER_WEIGHTS = (".h5", ".msgpack", ".ot", ".onnx", ".onnx_data", ".gguf", ".tflite", ".mlmodel", ".engine", ".pb")
"""The same weights for other programs; `--include` loads them all the same."""
CODE = (".py", ".so", ".pyd", ".dll", ".sh", ".ipynb")
OTHER_FOLDERS = ("original", "onnx", "openvino", "coreml", "metal", ".git")
"""Folders with the same weights for other programs."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is loaded and what is left out.

    Attributes:
        files: what is loaded, the small ones first.
        pickles: left out, for they may run code.
        code: Python and other code, left out.
        others: left out, for another program needs them.
    """

    files: tuple[ListedFile, ...]
    pickles: tuple[ListedFile, ...] = ()
    code: tuple[ListedFile, ...] = ()
    others: tuple[ListedFile, ...] = ()

    @property
    def bytes(self) -> int:
        """Size of what is loaded, each content once."""
        return sum({file.etag: file.bytes for file in self.files}.values())

    @property
    def has_weights(self) -> bool:
        """Whether any weights are loaded."""
        return any(file.name.endswith((".safetensors", *PICKLES, *OTHER_WEIGHTS)) for file in self.files)


def select(
    files: Iterable[ListedFile],
    *,
    allow_pickle: bool = False,
    allow_code: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Selection:
    """Choose files.

    Args:
        files: all of the repository.
        allow_pickle: weights in formats that may run code are wanted too.
        allow_code: the repository's own code is wanted too.
        include: patterns of names that are loaded whatever they are, but for pickles and code.
        exclude: patterns of names that are never loaded.
    """
    chosen, pickles, code, others = [], [], [], []
    for file in files:
        path = PurePosixPath(file.name)
        suffix = path.suffix.lower()
        wanted = any(fnmatch(file.name, pattern) for pattern in include)
        if any(fnmatch(file.name, pattern) for pattern in exclude):
            others.append(file)
        elif suffix in PICKLES and not allow_pickle:
            pickles.append(file)
        elif suffix in CODE and not allow_code:
            code.append(file)
        elif not wanted and (path.parts[0] in OTHER_FOLDERS or suffix in OTHER_WEIGHTS):
            others.append(file)
        else:
            chosen.append(file)
    chosen.sort(key=lambda file: file.bytes)
    return Selection(tuple(chosen), tuple(pickles), tuple(code), tuple(others))
