#!/usr/bin/env bash
# Serves the databases of the demos in ./demo-data until it is stopped: Bitcoin's, which is created if it is missing, and
# Cardano's and Ergo's if they exist. LISTEN=127.0.0.1:8081 make demo-serve changes the address.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-bin/birthmark} # tests set these
data=${DATA:-demo-data}

if [ ! -e "$data/bitcoin/CURRENT" ]; then docs/demo.sh; fi

settings=$data/birthmark.yaml
echo "chains:" >"$settings"
for chain in bitcoin cardano ergo; do
  if [ -e "$data/$chain/CURRENT" ]; then echo "- { chain: $chain, db: \"$data/$chain\" }" >>"$settings"; fi
done
if [ -t 1 ]; then printf '\n\033[1m$ %s\033[0m\n' "$program serve --config $settings"; fi
exec "$program" serve --config "$settings" --listen "${LISTEN:-127.0.0.1:8080}" "$@"
