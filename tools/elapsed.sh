#!/usr/bin/env bash
# tools/elapsed.sh NAME COMMAND...: runs a command that prints nothing for long. On a terminal, a line with the seconds
# since its start shows meanwhile that it runs.
set -euo pipefail
name=$1
shift
if [ -t 2 ]; then
  # The cursor stays at the beginning of the line, so that output of the command replaces it.
  (while sleep 1; do printf '\033[K%s: %d s\r' "$name" "$SECONDS"; done) >&2 &
  trap 'kill '$!' 2>/dev/null; printf "\033[K" >&2' EXIT
fi
"$@"
