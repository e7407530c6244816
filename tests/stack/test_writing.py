"""What is written is read back as the same stack, whatever text stands in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seatrial.stack.model import Container, Model, Override, Policy, Serve, Stack
from seatrial.stack.reading import parse_stack
from seatrial.stack.writing import write_stack

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=24)
REASON = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=3, max_size=40).filter(
    lambda text: len(text.strip()) >= 3
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(-1e9, 1e9), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
OVERRIDES = st.lists(
    st.builds(
        Override,
        flag=st.from_regex(r"--[a-z][a-z0-9-]{0,12}", fullmatch=True),
        value=JSON,
        why=REASON,
        omit=st.booleans(),
    ),
    max_size=3,
    unique_by=lambda override: override.name,
)
STACKS = st.builds(
    Stack,
    name=st.from_regex(r"[a-z0-9][a-z0-9_-]{0,10}", fullmatch=True),
    model=st.builds(Model, repo=TEXT, revision=st.none() | TEXT, served_name=st.none() | TEXT),
    serve=st.builds(Serve, host=TEXT, port=st.integers(1, 65535), context_length=st.none() | st.integers(1, 10**6)),
    policy=st.builds(Policy, over_long_input_owner=st.none() | TEXT),
    settings=OVERRIDES,
    container=st.builds(
        Container,
        environment=st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.text(max_size=12), max_size=2),
        extra=st.dictionaries(TEXT, JSON, max_size=3),
    ),
)


@given(STACKS)
def test_a_written_stack_is_read_back_as_the_same(stack: Stack) -> None:
    omitted = [override.omit for override in stack.settings]
    read = parse_stack(write_stack(stack, head=["head", "# more"], tail=["tail"]), where="stack.yaml")
    if any(omitted):  # the value of what is left out is not written
        read = read.model_copy(update={"settings": []})
        stack = stack.model_copy(update={"settings": []})
    assert read == stack


def test_what_is_not_set_is_shown_commented_out() -> None:
    text = write_stack(Stack(name="a", model=Model(repo="a/b")))
    assert "# context_length:" in text
    assert "# tensor_parallel:" in text
