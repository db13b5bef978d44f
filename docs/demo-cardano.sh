#!/usr/bin/env bash
# Indexes a Cardano chain into ./demo-data and queries its assets. `make demo-cardano` builds first.
#
# By default the chain is generated, in the shape of mainnet's Conway era. To use the immutable database of a node:
# IMMUTABLE=/path/to/immutable NETWORK=preview make demo-cardano; BLOCKS=100000 stops at that block.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-bin/birthmark} # tests set these
data=${DATA:-$PWD/demo-data}
generated=$data/cardano-generated

export BIRTHMARK_DB=$data/cardano # for all commands below

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

rm -rf "$BIRTHMARK_DB" "$generated"
if [ -n "${IMMUTABLE:-}" ]; then
  network=${NETWORK:-mainnet}
  source=file://$(cd "$IMMUTABLE" && pwd)
else
  network=$generated/genesis
  source=file://$generated/immutable
  run bench generate --txs "${TXS:-20000}" "$generated"
fi
echo; echo "From here on BIRTHMARK_DB=$BIRTHMARK_DB"

run sync --chain cardano --network "$network" --source "$source" --index address,payment_credential,policy ${BLOCKS:+--to-height "$BLOCKS"}
brief status

echo; echo "The policies whose outputs have the most ADA; a policy is the hash of a minting script:"
run richest policy --limit 5
policy=$(first '"value":' "$("$program" richest policy --limit 1 --json)")
if [ -z "$policy" ]; then echo; echo "There are no assets in these blocks."; exit 0; fi

# Of the newest transactions with assets of the first policy, the one with the shortest output.
shortest=1000000
for id in $("$program" find policy "$policy" --order desc --limit 8 --json | grep -oE '"tx":"[0-9a-f]{64}","index":[0-9]+,"height"' | cut -d '"' -f 4 | uniq); do
  length=$("$program" tx "$id" --json | wc -c)
  if [ "$length" -lt "$shortest" ]; then tx=$id shortest=$length; fi
done
asset=$(first "\"asset\":" "$("$program" tx "$tx" --json | grep -oE "\"asset\":\"$policy[^\"]*\"")")
holder=$(first '"address":' "$("$program" asset-holders "$asset" --limit 1 --json)")

echo; echo "A transaction with assets of the first:"
long tx "$tx"

echo; echo "One of these assets: its supply, holders, mints and burns:"
run asset "$asset"
run asset-holders "$asset" --limit 5
run asset-events "$asset" --limit 5

echo; echo "All assets of its policy, the first 28 bytes of its id:"
brief find policy "$policy" --limit 5

if [ -n "$holder" ]; then
  echo; echo "Its first holder, and all addresses with the same payment credential:"
  brief balance address "$holder"
  brief find payment_credential "$holder" --limit 5
fi

echo; echo "Consistency of the database: no input without its output, minted less burned is held, and more:"
run check

cat <<END

The database is in $BIRTHMARK_DB. Things to try next, after export BIRTHMARK_DB=$BIRTHMARK_DB
  make demo-serve                       an explorer of it at http://127.0.0.1:8080/
  bin/birthmark history address ${holder:-ADDRESS} --limit 10
  bin/birthmark rollback --to-height 1000
  bin/birthmark help

A real chain comes from a relay, from a node beside it, or from that node's files, each into its own --db:
  bin/birthmark sync --chain cardano --network preview --source tcp://preview-node.play.dev.cardano.org:3001 --db preview
  bin/birthmark sync --chain cardano --source unix:///run/cardano-node/node.socket --db mainnet --follow
  bin/birthmark sync --chain cardano --source file:///var/lib/cardano-node/db/immutable --db mainnet
END
