#!/bin/sh
# Renew requirements/*.txt from pyproject.toml: one lock for Python 3.11 to 3.14, with a hash for every file.
set -eu
cd "$(dirname "$0")/.."
lock() { uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-annotate \
    --custom-compile-command "make lock" --upgrade --quiet "$@"; }
lock --group build --output-file requirements/runtime.txt
lock --group build --group dev --output-file requirements/dev.txt
