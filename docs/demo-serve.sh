#!/usr/bin/env bash
# Serves the databases of the demos that are in ./demo-data, until it is stopped: that of Bitcoin, which is made where it is
# not there, and those of Cardano and Ergo. LISTEN=127.0.0.1:8081 make demo-serve has it answer elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-bin/birthmark} # tests have others for these two
data=${DATA:-demo-data}

if [ ! -e "$data/bitcoin/CURRENT" ]; then docs/demo.sh; fi

settings=$data/birthmark.yaml
echo "chains:" >"$settings"
for chain in bitcoin cardano ergo; do
  if [ -e "$data/$chain/CURRENT" ]; then echo "- { chain: $chain, db: \"$data/$chain\" }" >>"$settings"; fi
done
if [ -t 1 ]; then printf '\n\033[1m$ %s\033[0m\n' "$program serve --config $settings"; fi
exec "$program" serve --config "$settings" --listen "${LISTEN:-127.0.0.1:8080}" "$@"
