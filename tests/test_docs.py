"""What the documents say is true."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kit import CommandLine

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands_in(text: str) -> list[list[str]]:
    """The seatrial commands in a page's code blocks."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    words = [shlex.split(line, comments=True) for line in lines if "seatrial " in line and "│" not in line]
    return [line for line in words if line and line[0].endswith("seatrial")]


def test_the_reference_is_what_the_program_says() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "reference.py", "--check"], check=False)
    assert done.returncode == 0, "run: make docs"


GROUPS = ("models", "host", "ledger")
"""Verbs that have verbs of their own."""


def test_every_command_and_option_in_the_readme_exists(seatrial: CommandLine) -> None:
    commands = commands_in((ROOT / "README.md").read_text())
    assert len(commands) >= 5
    for command in commands:
        verb = command[1:3] if command[1] in GROUPS else command[1:2]
        shown = seatrial(*verb, "--help", expect=0).stdout
        for option in (word for word in command[2:] if word.startswith("--")):
            assert option in shown, f"{' '.join(command)}: {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *project["project"]["dependencies"],
        *(one for group in project["dependency-groups"].values() for one in group),
    ]
    page = (ROOT / "docs" / "dependencies.md").read_text()
    for requirement in wanted:
        name = re.split(r"[<>=;\[ ]", requirement)[0]
        assert re.search(rf"\b{re.escape(name)}\b", page), name


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nsys.argv = ['seatrial', '--help']\nimport seatrial.__main__\n"
        "try:\n    seatrial.__main__.main()\nexcept SystemExit:\n    pass\n"
        "print('IMPORTED', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    imported = set(done.stdout.rpartition("IMPORTED")[2].split())
    heavy = {"aiohttp", "asyncio", "jinja2", "jsonschema", "psutil", "xllamacpp", "seatrial.degeneration"}
    assert not imported & heavy
