"""The signatures as data: their schema, their examples, and that none fires on another's."""

from __future__ import annotations

import re
from importlib import resources

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seatrial.doctor import Role, diagnose
from seatrial.doctor.figures import FIGURE_WORDS
from seatrial.doctor.signature import Signature, load_knowledge, schema, words_of
from seatrial.yaml_text import read_yaml

KNOWLEDGE = load_knowledge()
SIGNATURES = KNOWLEDGE.signatures
FOLDER = resources.files("seatrial.doctor") / "signatures"
FILES = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".yaml"))


@pytest.mark.parametrize("name", FILES)
def test_every_file_keeps_to_the_schema(name: str) -> None:
    document = schema()
    jsonschema.Draft202012Validator.check_schema(document)
    if name == "phases.yaml":
        document = {**document, **document["$defs"]["phases"]}
    value = read_yaml((FOLDER / name).read_text(encoding="utf-8"), where=name).value
    jsonschema.Draft202012Validator(document).validate(value)


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.id)
def test_a_signature_recognises_its_examples_and_is_the_cause_of_them(signature: Signature) -> None:
    for example in signature.examples:
        found = diagnose(example.split("\n"))
        if signature.role is Role.AFTERMATH:
            assert found.unknown
            continue
        assert found.cause is not None
        assert (found.cause.id, found.cause.level) == (signature.id, signature.level)
        assert found.cause.cause
        assert "{" not in found.cause.cause + found.cause.fix


def test_no_signature_fires_on_anothers_example_except_the_general_ones() -> None:
    general = {signature.id for signature in SIGNATURES if signature.role is not Role.CAUSE}
    for signature in SIGNATURES:
        for example in signature.examples:
            found = diagnose(example.split("\n"))
            fired = {entry.id for entry in (*([found.cause] if found.cause else []), *found.others)}
            strange = fired - {signature.id, "unknown-failure"} - general
            assert not strange, (signature.id, strange)


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.id)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_a_pattern_matches_holds_one_of_its_words(signature: Signature, data: st.DataObject) -> None:
    """Else a line would be passed over that the pattern means."""
    pattern = data.draw(st.sampled_from(signature.patterns))
    text = data.draw(st.from_regex(pattern, fullmatch=True))
    if signature.match(text) is None:
        return
    # A random text may glue letters to a word (`Xnvcc`), as no real line does: so parts of words count too.
    words = words_of(text.encode("utf-8", "replace"))
    assert any(all(word in words for word in wanted) for wanted in signature.words), (pattern.pattern, text)


def test_conditions_name_marks_that_exist() -> None:
    marks = {phase.mark for phase in KNOWLEDGE.phases} | {signature.id for signature in SIGNATURES}
    for signature in SIGNATURES:
        for condition in (signature.before, signature.after):
            assert {*condition.present, *condition.absent, *condition.any_of} <= marks, signature.id


def test_names_in_braces_are_groups_of_the_patterns_or_known_figures() -> None:
    figures = {
        *("mem_fraction_static", "fraction_raised", "fraction_lowered", "least_fraction", "weights_gib", "gpu_gib"),
        *(
            "before_weights_gib",
            "after_weights_gib",
            "after_pools_gib",
            "free_gib",
            "wanted",
            "cuda_graph_max_bs",
            "max_total_tokens",
        ),
        *("tp_size", "model_path", "dtype", "chunked_prefill_size", "nearest", "nearest_choice"),
    }
    for signature in SIGNATURES:
        groups = {name for pattern in signature.patterns for name in pattern.groupindex}
        for sentence in (*signature.cause, *signature.fix):
            assert set(re.findall(r"\{(\w+)\}", sentence)) <= groups | figures, (signature.id, sentence)


def test_whatever_is_wrong_has_a_fix() -> None:
    for signature in SIGNATURES:
        if signature.level.value not in ("benign", "warning") and signature.role is not Role.AFTERMATH:
            assert signature.fix, signature.id


def test_figure_words_are_words() -> None:
    assert all(words_of(word).split() == [word] for word in FIGURE_WORDS)
