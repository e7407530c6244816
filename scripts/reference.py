"""Write docs/verbs/*.md, a page a verb, from the command line's own help, so that they can't be wrong.

`--check` writes nothing and exits with 1 when a page is not current.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "verbs"
HEAD = "<!-- Written by `make docs` from the program's own help: edit that. -->\n\n"

SEE_ALSO = {
    "try": ["verdicts"],
    "init": ["planning"],
    "facts": ["planning"],
    "plan": ["planning", "memory"],
    "lint": ["planning"],
    "adopt": ["planning"],
    "explain": ["planning"],
    "upgrade": ["planning"],
    "schema": ["planning"],
    "up": ["release"],
    "stop": ["release"],
    "restart": ["release"],
    "status": ["release"],
    "logs": ["release"],
    "switch": ["release"],
    "install-scripts": ["release"],
    "ledger": ["release"],
    "models": ["models"],
    "host": ["host"],
    "doctor": ["doctor", "release"],
    "prove": ["verdicts", "tool-calls", "merge-request-review", "degeneration"],
    "bench": ["benchmark"],
    "endpoint": [],
    "scan": ["degeneration"],
    "judge": ["tool-calls"],
}
"""Pages about what a verb does, by the names of their files."""


def pages() -> dict[str, str]:
    """Return the pages as they should be, by file name."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "reference.md"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "typer",
                "seatrial.cli.app",
                *("utils", "docs"),
                "--name",
                "seatrial",
                "--output",
                page,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        text = "\n".join(line.rstrip() for line in page.read_text(encoding="utf-8").splitlines())
    index, *verbs = re.split(r"^## `seatrial ([\w-]+)`\n", text, flags=re.MULTILINE)
    made = {}
    for verb, body in zip(verbs[::2], verbs[1::2], strict=True):
        links = [f"[{name}](../{name}.md)" for name in SEE_ALSO[verb]]
        more = f"\n\nMore: {', '.join(links)}" if links else ""
        made[f"{verb}.md"] = f"{HEAD}# `seatrial {verb}`\n\n{body.strip()}{more}\n"
    index = re.sub(r"^\* `([a-z][\w-]*)`", r"* [`\1`](\1.md)", index.strip(), flags=re.MULTILINE)
    made["README.md"] = f"{HEAD}{index}\n"
    return made


def main() -> int:
    """Write or check."""
    wanted = pages()
    if "--check" in sys.argv[1:]:
        there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
        return 0 if there == wanted else 1
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
