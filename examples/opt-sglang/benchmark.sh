#!/usr/bin/env bash
# Written by `seatrial install-scripts`. More arguments are passed on.
set -euo pipefail
cd "$(dirname "$0")"
exec seatrial bench --url http://127.0.0.1:30000/v1 --model qwen3.6-35b --concurrency 1,8 --runs docker/../ledger/runs "$@"
