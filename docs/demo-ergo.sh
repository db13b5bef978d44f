#!/usr/bin/env bash
# Indexes an Ergo chain into ./demo-data and queries boxes and tokens. `make demo-ergo` builds first.
#
# By default a local test node serves a generated chain. To use a real node: NODE=http://127.0.0.1:9053 NETWORK=mainnet
# make demo-ergo; BLOCKS=20000 stops at that block.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-bin/birthmark} # tests set these
data=${DATA:-$PWD/demo-data}
network=${NETWORK:-testnet}

export BIRTHMARK_DB=$data/ergo # for all commands below

# say prints a command.
say() {
  if [ -t 1 ]; then printf '\n\033[1m$ birthmark %s\033[0m\n' "$*"; else printf '\n$ birthmark %s\n' "$*"; fi
}

# run prints and runs a command; brief and long show the first lines of its output.
run() { say "$@"; "$program" "$@"; }
brief() { say "$@"; "$program" "$@" | awk 'NR <= 18 { print } NR == 19 { print "…" }'; }
long() { say "$@"; "$program" "$@" | awk 'NR <= 50 { print } NR == 51 { print "…" }'; }

# first PATTERN JSON prints the quoted text after the first match of the pattern.
first() { grep -oE "$1\"[^\"]+" <<<"$2" | head -n 1 | grep -oE '[^"]+$' || true; }

rm -rf "$BIRTHMARK_DB"
mkdir -p "$data"
if [ -z "${NODE:-}" ]; then
  go build -o "$data/standin" ./internal/testnode/ergotest/standin
  coproc "$data/standin" -blocks 600 # it exits when its input ends, with this script
  read -r NODE <&"${COPROC[0]}"
  echo "A test node serves a generated chain at $NODE"
fi

run sync --chain ergo --network "$network" --source "$NODE" --index address,ergo_tree_template_hash ${BLOCKS:+--to-height "$BLOCKS"}
brief status
brief block tip

echo; echo "The largest balances:"
run richest address --limit 5

# The newest transaction of the last blocks that mints a token.
height=$("$program" status --json | grep -oE '"tip":\{"height":[0-9]+' | grep -oE '[0-9]+$')
for ((h = height; h > 0 && h > height - 200; h--)); do
  for id in $("$program" block "$h" --json | grep -oE '"txs":\[[^]]*' | grep -oE '[0-9a-f]{64}'); do
    found=$("$program" tx "$id" --json)
    token=$(grep -oE '"mints":.*' <<<"$found" | grep -oE '"asset":"[0-9a-f]{64}","amount":"[0-9]' | head -n 1 | cut -d '"' -f 4 || true)
    if [ -n "$token" ]; then tx=$id; break 2; fi
  done
done

if [ -n "${token:-}" ]; then
  echo; echo "A transaction that mints a token:"
  long tx "$tx"
  echo; echo "The token: its description by the issuer, supply, holders, mints and burns:"
  run asset "$token"
  run asset-holders "$token" --limit 5
  run asset-events "$token" --limit 5
  box=$(first '"box_id":' "$("$program" tx "$tx" --json | grep -oE '"outputs":.*')")
  echo; echo "Its first box, by its id:"
  run output "$box"
fi

echo; echo "Consistency of the database: every input has its box, the supply is that of genesis, and more:"
run check
echo; echo "Comparison with the node:"
run verify --source "$NODE" --sample 20

cat <<END

The database is in $BIRTHMARK_DB. Things to try next, after export BIRTHMARK_DB=$BIRTHMARK_DB
  make demo-serve                       an explorer of it at http://127.0.0.1:8080/
  bin/birthmark find ergo_tree_template_hash HASH --limit 10
  bin/birthmark rollback --to-height 100
  bin/birthmark help

A real chain comes from a node (bulk and at its tip), or from a file of its blocks, into its own --db:
  bin/birthmark sync --chain ergo --source http://127.0.0.1:9053 --db ergo --follow
  bin/birthmark sync --chain ergo --source file:///path/blocks.jsonl.gz --db ergo
END
