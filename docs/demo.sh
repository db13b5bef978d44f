#!/usr/bin/env bash
# The demo: indexes the first 14,132 blocks of Bitcoin into ./demo-data and asks about them. `make demo` builds first.
set -euo pipefail
cd "$(dirname "$0")/.."

db=demo-data/bitcoin
blocks=demo-data/blocks

# say what is done, then do it
run() {
  if [ -t 1 ]; then printf '\n\033[1m$ %s\033[0m\n' "$*"; else printf '\n$ %s\n' "$*"; fi
  "$@"
}

# The blocks come with a Go module, in the form in which a node of Bitcoin keeps them.
go -C tools mod download github.com/btcsuite/btcd
btcd=$(go -C tools list -m -f '{{.Dir}}' github.com/btcsuite/btcd)
mkdir -p "$blocks"
cp -f "$btcd/blockchain/testdata/blk_0_to_14131.dat" "$blocks/blk00000.dat"
chmod u+w "$blocks/blk00000.dat"
rm -rf "$db"

run bin/birthmark sync --chain bitcoin --source "file://$PWD/$blocks" --db "$db"
run bin/birthmark status --db "$db"

echo; echo "Block 170 holds the first payment from one person to another, Satoshi Nakamoto to Hal Finney:"
run bin/birthmark block --db "$db" 170
run bin/birthmark tx --db "$db" f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16

echo; echo "The address it came from, everything it received and sent in these blocks:"
run bin/birthmark balance --db "$db" address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S
run bin/birthmark history --db "$db" address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S

echo; echo "Who held most when block 14,131 was mined:"
run bin/birthmark richest --db "$db" address --limit 10

cat <<END

The database is in $db. Things to try next:
  bin/birthmark find --db $db address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S --unspent
  bin/birthmark output --db $db f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:1 --json
  bin/birthmark check --db $db
  bin/birthmark rollback --db $db --to-height 5000
  bin/birthmark help
END
