#!/usr/bin/env bash
# The product on a real NVIDIA GPU with a real SGLang, in one go: docs/gpu-acceptance.md says what it shows.
#
#   scripts/gpu_acceptance.sh ENVIRONMENT OUT [--flag=--NAME=VALUE …]
#
# ENVIRONMENT is a Python environment that holds SGLang; OUT a new folder for figures and logs.
# SEATRIAL_PYTHON is the interpreter that has seatrial (default: .venv/bin/python, as `make try` makes it).
set -euo pipefail
cd "$(dirname "$0")/.."
exec "${SEATRIAL_PYTHON:-.venv/bin/python}" scripts/gpu_acceptance.py "$@"
