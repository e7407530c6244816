"""Reading a checkpoint's folder: config, headers, template, recommended sampling; no weight."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from seatrial.errors import InputError
from seatrial.facts.model_folder import read_model_folder

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
    "max_position_embeddings": 1024,
}


def folder(path: Path, **files: Any) -> Path:
    (path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    for name, content in files.items():
        file = path / name.replace("__", ".")
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def safetensors(tensors: dict[str, tuple[str, list[int], int]]) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


def test_a_config_alone_is_enough(tmp_path: Path) -> None:
    model = read_model_folder(folder(tmp_path), repo="a/b", revision="c")
    assert (model.repo, model.revision, model.source) == ("a/b", "c", str(tmp_path))
    assert model.tensor_bytes == {}
    assert model.chat_template is None


def test_headers_give_exact_sizes_and_no_weight_is_needed(tmp_path: Path) -> None:
    one = safetensors({"model.embed_tokens.weight": ("BF16", [100, 64], 12_800)})
    two = safetensors({"lm_head.weight": ("F32", [100, 64], 25_600)})
    index = {"weight_map": {"model.embed_tokens.weight": "a.safetensors", "lm_head.weight": "b.safetensors"}}
    found = folder(tmp_path, a__safetensors=one, b__safetensors=two)
    (found / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    model = read_model_folder(found)
    assert model.tensor_bytes == {"model.embed_tokens.weight": 12_800, "lm_head.weight": 25_600}
    assert model.tensor_dtypes["lm_head.weight"] == "F32"
    assert model.tensor_shapes["lm_head.weight"] == (100, 64)


def test_a_missing_shard_takes_all_sizes_away_and_is_said(tmp_path: Path) -> None:
    found = folder(tmp_path, a__safetensors=safetensors({"x": ("BF16", [1], 2)}))
    index = {"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}
    (found / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    model = read_model_folder(found)
    assert model.tensor_bytes == {}
    assert any("1 of 2" in note for note in model.notes)


def test_the_templates_own_file_goes_before_the_tokenizers(tmp_path: Path) -> None:
    tokenizer = {"chat_template": "{{ messages }}"}
    found = folder(tmp_path, chat_template__jinja="{{ tools }}<tool_call>", tokenizer_config__json=tokenizer)
    template = read_model_folder(found).chat_template
    assert template is not None
    assert template.tool_call_style == "hermes"
    (found / "chat_template.jinja").unlink()
    plain = read_model_folder(found).chat_template
    assert plain is not None
    assert not plain.tools


def test_recommended_sampling_is_kept(tmp_path: Path) -> None:
    found = folder(tmp_path, generation_config__json={"temperature": 0.6, "top_p": 0.95})
    assert read_model_folder(found).generation["temperature"] == 0.6


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", "{"),
        ("config.json", "[]"),
        ("config.json", b"\xff\xfe\x00"),
        ("generation_config.json", "{"),
        ("model.safetensors", b""),
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n"),
        ("model.safetensors", struct.pack("<Q", 3) + b"{}}"),
        ("model.safetensors", struct.pack("<Q", 2) + b"[]"),
        ("model.safetensors", struct.pack("<Q", 8) + b'{"x": 1}'),
        ("model.safetensors.index.json", '{"weight_map": {"x": "../../etc/passwd"}}'),
    ],
)
def test_a_broken_file_is_named_in_one_line(tmp_path: Path, file: str, content: str | bytes) -> None:
    found = folder(tmp_path)
    (found / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_model_folder(found)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in caught.value.problem


def test_a_folder_without_a_config_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_model_folder(tmp_path)
    assert caught.value.advice
