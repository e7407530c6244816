"""Make the small models of the SGLang lane; run it with the interpreter of `scripts/sglang_environment.py`.

    …/venv/bin/python scripts/sglang_models.py FOLDER [--gguf SMOLLM2.gguf]

FOLDER/random-qwen3: two layers with random weights (seeded) and a tokenizer trained on the packages' own descriptions.
It starts as a real model does and answers garbage. FOLDER/smollm2: SmolLM2-135M-Instruct out of the GGUF file that
seatrial's demonstration uses, with single tokens for thinking and tool calls. Each is made once; a folder counts as
made when it has its name, which it gets last.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SEED = 20_260_716
VOCABULARY = 4_096
CONTEXT = 4_096
END = "<|im_end|>"
SPECIAL = ("<|im_start|>", END, "<think>", "</think>", "<tool_call>", "</tool_call>")
TEMPLATE = """\
{%- if tools %}<|im_start|>system
You may call these tools:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
Answer a call as <tool_call>{"name": …, "arguments": {…}}</tool_call>.<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""ChatML with tools, as Qwen's and SmolLM2's templates have it, without their preambles."""


def main() -> int:
    """Make the models that are missing."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument(
        "--gguf", type=Path, help="SmolLM2-135M-Instruct as a GGUF file; without it only the random model"
    )
    given = arguments.parse_args()
    os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TRANSFORMERS_VERBOSITY="error")
    made = [make(given.folder / "random-qwen3", random_qwen3)]
    if given.gguf:
        made.append(make(given.folder / "smollm2", lambda folder: smollm2(folder, given.gguf)))
    for folder in made:
        print(folder)
    return 0


def make(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fill a folder that is not there yet; it gets its name last."""
    if folder.is_dir():
        return folder
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    fill(part)
    part.replace(folder)
    return folder


def random_qwen3(folder: Path) -> None:
    """Save a Qwen3 of two layers whose weights are random, in bfloat16 (about 3 MB)."""
    import torch  # type: ignore[import-not-found]
    from transformers import Qwen3Config, Qwen3ForCausalLM  # type: ignore[import-not-found]

    tokenizer = trained_tokenizer()
    torch.manual_seed(SEED)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
        initializer_range=0.2,  # large enough that one token does not win every step
        eos_token_id=tokenizer.convert_tokens_to_ids(END),
        bos_token_id=None,
    )
    Qwen3ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def trained_tokenizer() -> Any:
    """Train a byte-level tokenizer on what the installed packages say of themselves: the same for the same pins."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # type: ignore[import-not-found]
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=list(SPECIAL), initial_alphabet=alphabet)
    tokenizer.train_from_iterator(descriptions(), trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=END)
    fast.chat_template = TEMPLATE
    return fast


def descriptions() -> Iterator[str]:
    """Read the description of every installed package."""
    for file in sorted(Path(sysconfig.get_paths()["purelib"]).glob("*.dist-info/METADATA")):
        yield file.read_text(encoding="utf-8", errors="replace")


def smollm2(folder: Path, gguf: Path) -> None:
    """Save SmolLM2 as SGLang reads it: safetensors in bfloat16 (about 270 MB), and a tokenizer that decodes bytes."""
    import torch
    from tokenizers import decoders
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place, name = str(gguf.parent), gguf.name
    model = AutoModelForCausalLM.from_pretrained(place, gguf_file=name, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(place, gguf_file=name)
    tokenizer.backend_tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([token for token in SPECIAL if token not in tokenizer.get_vocab()])
    tokenizer.chat_template = TEMPLATE
    tokenizer.eos_token = END
    model.resize_token_embeddings(max(len(tokenizer), model.config.vocab_size))
    model.config.eos_token_id = tokenizer.convert_tokens_to_ids(END)
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    sys.exit(main())
