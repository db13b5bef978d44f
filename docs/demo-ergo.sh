#!/usr/bin/env bash
# The demo of Ergo: indexes a node's chain into ./demo-data and asks about boxes and tokens. `make demo-ergo` builds first.
#
# Without anything set the node is a stand-in that serves a generated chain. NODE=http://127.0.0.1:9053 NETWORK=mainnet
# make demo-ergo takes a real one, of which BLOCKS=20000 takes only the first.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-bin/birthmark} # tests have others for these two
data=${DATA:-$PWD/demo-data}
network=${NETWORK:-testnet}

export BIRTHMARK_DB=$data/ergo # what every command has to know is said once

# say what is done
say() {
  if [ -t 1 ]; then printf '\n\033[1m$ birthmark %s\033[0m\n' "$*"; else printf '\n$ birthmark %s\n' "$*"; fi
}

# then do it, or show how what it says begins
run() { say "$@"; "$program" "$@"; }
brief() { say "$@"; "$program" "$@" | awk 'NR <= 18 { print } NR == 19 { print "…" }'; }
long() { say "$@"; "$program" "$@" | awk 'NR <= 50 { print } NR == 51 { print "…" }'; }

# first PATTERN JSON: what stands in quotes behind the pattern, where it occurs first
first() { grep -oE "$1\"[^\"]+" <<<"$2" | head -n 1 | grep -oE '[^"]+$' || true; }

rm -rf "$BIRTHMARK_DB"
mkdir -p "$data"
if [ -z "${NODE:-}" ]; then
  go build -o "$data/standin" ./internal/testnode/ergotest/standin
  coproc "$data/standin" -blocks 600 # its input ends with this script, and it with that
  read -r NODE <&"${COPROC[0]}"
  echo "A stand-in for a node serves a generated chain at $NODE"
fi

run sync --chain ergo --network "$network" --source "$NODE" --index address,ergo_tree_template_hash ${BLOCKS:+--to-height "$BLOCKS"}
brief status
brief block tip

echo; echo "What most ERG lies at:"
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
  echo; echo "The token: what its maker says of it, what there is, who holds it, when it was minted and burned:"
  run asset "$token"
  run asset-holders "$token" --limit 5
  run asset-events "$token" --limit 5
  box=$(first '"box_id":' "$("$program" tx "$tx" --json | grep -oE '"outputs":.*')")
  echo; echo "Its first box, by its id:"
  run output "$box"
fi

echo; echo "Whether all that is stored agrees: no input without its box, what was there at genesis is all there is, and more:"
run check
echo; echo "And whether the node has the same:"
run verify --source "$NODE" --sample 20

cat <<END

The database is in $BIRTHMARK_DB. Things to try next, after export BIRTHMARK_DB=$BIRTHMARK_DB
  make demo-serve                       an explorer of it at http://127.0.0.1:8080/
  bin/birthmark find ergo_tree_template_hash HASH --limit 10
  bin/birthmark rollback --to-height 100
  bin/birthmark help

A real chain comes from a node (bulk and at its tip), or from a file of its blocks, into a --db of its own:
  bin/birthmark sync --chain ergo --source http://127.0.0.1:9053 --db ergo --follow
  bin/birthmark sync --chain ergo --source file:///path/blocks.jsonl.gz --db ergo
END
