#!/usr/bin/env bash
# Indexes the first 14,132 blocks of Bitcoin into ./demo-data, queries them, and serves them for a moment.
# `make demo` builds first. `make demo-serve` keeps serving.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-bin/birthmark} # tests set these
data=${DATA:-demo-data}
db=$data/bitcoin
blocks=$data/blocks

# run prints a command and runs it.
run() {
  if [ -t 1 ]; then printf '\n\033[1m$ %s\033[0m\n' "$*"; else printf '\n$ %s\n' "$*"; fi
  "$@"
}

# The blocks are in a Go module, as a block file of a node.
tools/elapsed.sh demo go -C tools mod download github.com/btcsuite/btcd
btcd=$(go -C tools list -m -f '{{.Dir}}' github.com/btcsuite/btcd)
mkdir -p "$blocks"
cp -f "$btcd/blockchain/testdata/blk_0_to_14131.dat" "$blocks/blk00000.dat"
chmod u+w "$blocks/blk00000.dat"
rm -rf "$db"

run "$program" sync --chain bitcoin --source "file://$(cd "$blocks" && pwd)" --db "$db"
run "$program" status --db "$db"

echo; echo "Block 170 holds the first payment from one person to another, Satoshi Nakamoto to Hal Finney:"
run "$program" block --db "$db" 170
run "$program" tx --db "$db" f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16

echo; echo "An address, with all it received and sent in these blocks:"
run "$program" balance --db "$db" address 1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu
run "$program" history --db "$db" address 1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu

echo; echo "The largest balances at block 14,131:"
run "$program" richest --db "$db" address --limit 10

echo; echo "The same over HTTP, for programs and browsers:"
if [ -t 1 ]; then printf '\n\033[1m$ %s\033[0m\n' "$program serve --db $db"; else printf '\n$ %s\n' "$program serve --db $db"; fi
coproc server { exec "$program" serve --db "$db" --listen 127.0.0.1:0 --json; }
pid=$server_PID
read -r where <&"${server[0]}" # its only line has the address
url=$(grep -oE 'http://[^"]+' <<<"$where")
echo "answers at ${url}, with an explorer in the browser"
if command -v curl >/dev/null; then
  run curl -s "${url}v1/bitcoin/balance/address/1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu"
fi
kill "$pid"
wait "$pid"

cat <<END

The database is in $db. Things to try next:
  make demo-serve                       the explorer at http://127.0.0.1:8080/
  bin/birthmark find --db $db address 1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu --unspent
  bin/birthmark output --db $db f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:1 --json
  bin/birthmark check --db $db
  bin/birthmark rollback --db $db --to-height 5000
  bin/birthmark help
END
