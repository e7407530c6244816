"""A plugin of SGLang's: grammars (json_schema, a named tool) also mask logits that lie on the CPU.

SGLang 0.5.16 masks them on GPUs only; on the CPU the first request with a grammar ends the scheduler with
`Unsupported device: cpu`. XGrammar itself can do it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TARGET = "sglang.srt.constrained.xgrammar_backend.XGrammarGrammar.apply_vocab_mask"


def register() -> None:
    """Hook into SGLang; it calls this at its start, in every process."""
    from sglang.srt.plugins.hook_registry import (  # type: ignore[import-not-found]
        HookRegistry,
        HookType,
    )

    HookRegistry.register(TARGET, apply_on_the_cpu, HookType.AROUND)


def apply_on_the_cpu(original: Callable[..., Any], grammar: Any, logits: Any, vocab_mask: Any) -> Any:
    """Mask logits by XGrammar's own function where they lie on the CPU; else as SGLang does.

    Args:
        original: SGLang's method.
        grammar: whose method it is.
        logits: shape (requests, vocabulary), changed in place.
        vocab_mask: shape (requests, vocabulary / 32), one bit a token.
    """
    if logits.device.type != "cpu":
        return original(grammar, logits, vocab_mask)
    import xgrammar  # type: ignore[import-not-found]

    return xgrammar.apply_token_bitmask_inplace(logits, vocab_mask)
