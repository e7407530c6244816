from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from host.debian_tree import DebianTree, debian_tree

PEOPLE = ("--admin", "alice", "--admin", "bob")


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[DebianTree]:
    """A Debian on which nothing was set up yet."""
    with debian_tree(tmp_path / "machine") as made:
        yield made


@pytest.fixture
def applied(tree: DebianTree) -> DebianTree:
    """A Debian on which `host apply` has run, with alice and bob as admins and a compose.yaml."""
    return set_up(tree)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebianTree]:
    """Such a Debian for a whole module, whose tests leave it as they found it."""
    with debian_tree(tmp_path_factory.mktemp("kept") / "machine") as made:
        yield set_up(made)


def set_up(tree: DebianTree) -> DebianTree:
    """Apply the account model."""
    tree.seatrial("host", "apply", *PEOPLE, "--yes")
    tree.shell(
        "echo 'services: {}' >/opt/sglang/docker/compose.yaml; chown sglang:sglang /opt/sglang/docker/compose.yaml"
    )
    return tree
