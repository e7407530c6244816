"""Write docs/reference.md from the command line's own help, so that it can't be wrong.

`--check` writes nothing and exits with 1 when the page is not current.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
HEAD = "<!-- Written by `make docs` from the program's own help: edit that. -->\n\n"


def reference() -> str:
    """Return the page as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "reference.md"
        subprocess.run(
            [
                *(sys.executable, "-m", "typer"),
                "seatrial.cli.app",
                *("utils", "docs", "--name", "seatrial"),
                "--output",
                page,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        text = page.read_text(encoding="utf-8")
    return HEAD + "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def main() -> int:
    """Write or check."""
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == reference() else 1
    PAGE.write_text(reference(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
