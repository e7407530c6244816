#!/usr/bin/env bash
# Written by `seatrial install-scripts`. More arguments are passed on.
set -euo pipefail
cd "$(dirname "$0")"
exec seatrial prove --url http://127.0.0.1:30000/v1 --model qwen3.6-35b --suite standard --over-long reject --runs docker/../ledger/runs "$@"
