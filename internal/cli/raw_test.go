package cli

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core/query"
	"birthmark/internal/testblocks"
	"birthmark/model"
)

type rawRun struct {
	chain, network, source string
	to                     int
}

func rawRuns(t *testing.T) []rawRun {
	return []rawRun{
		{"bitcoin", "mainnet", "file://" + realBlocks(t), 2_000},
		{"cardano", "preview", "file://" + testblocks.Path(t, "cardano", "dingo-immutable"), 50_000},
		{"ergo", "mainnet", "file://" + testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), 2_000},
	}
}

// A database with raw transactions returns bytes that hash to the requested id. They are removed and added with
// their blocks, and check and verify include them.
func TestRawTransactionsHashToTheirID(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, run := range rawRuns(t) {
		t.Run(run.chain, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "db")
			sync := []string{"sync", "--chain", run.chain, "--network", run.network, "--source", run.source, "--db", db, "--to-height", fmt.Sprint(run.to)}
			ask(t, nil, append(sync, "--raw")...)
			consistent(t, db)
			var status query.StatusAnswer
			ask(t, &status, "status", "--db", db)
			i := slices.IndexFunc(status.Families, func(f query.FamilyAnswer) bool { return f.Name == "raw_by_tx_pk" })
			if i < 0 || status.Families[i].Rows() != status.Totals.Txs || status.Totals.Txs == 0 {
				t.Fatalf("%+v", status)
			}
			digest := digestOf(t, db)

			chain, err := chains.New(run.chain, run.network)
			if err != nil {
				t.Fatal(err)
			}
			hashes := newestTxs(t, db, 10)
			for _, hash := range hashes {
				var a query.RawTxAnswer
				ask(t, &a, "tx", "--raw", hash, "--db", db)
				raw, err := hex.DecodeString(a.Raw)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := chain.(model.TxHasher).HashTx(raw); err != nil || chain.FormatHash(got) != hash || a.Tx != hash {
					t.Errorf("the bytes of %s hash to %s, %v", hash, chain.FormatHash(got), err)
				}
				var tx query.TxAnswer
				if ask(t, &tx, "tx", hash, "--db", db); tx.Size != len(raw) || tx.Confirmations != uint32(run.to)-tx.Height+1 {
					t.Errorf("size %d and %d confirmations of %d bytes in block %d", tx.Size, tx.Confirmations, len(raw), tx.Height)
				}
				if r := birthmark("tx", "--raw", hash, "--db", db); r.status != exitDone || r.stdout != a.Raw+"\n" {
					t.Errorf("as text: %+v", r)
				}
			}
			if len(hashes) < 10 {
				t.Errorf("%d transactions were requested", len(hashes))
			}

			ask(t, nil, "rollback", "--db", db, "--to-height", fmt.Sprint(run.to*9/10))
			consistent(t, db)
			ask(t, nil, sync...) // the option is stored in the database
			same(t, db, digest)
			ask(t, nil, "verify", "--db", db, "--source", run.source, "--sample", "20", "--seed", "1")

			var dropped, added changeAnswer
			ask(t, &dropped, "index", "drop", "raw", "--db", db)
			if !dropped.Done || dropped.Index != nil || *dropped.BytesFreed < 0 {
				t.Errorf("dropped: %+v", dropped)
			}
			wantFailure(t, exitUsage, "no_raw", "birthmark index add raw", "tx", "--raw", hashes[0], "--db", db)
			consistent(t, db)
			without := filepath.Join(t.TempDir(), "without")
			ask(t, nil, append(slices.Clone(sync[:8]), without, "--to-height", fmt.Sprint(run.to))...)
			same(t, db, digestOf(t, without))
			for _, db := range []string{db, without} {
				ask(t, &added, "index", "add", "raw", "--db", db, "--source", run.source)
				if !added.Done || added.Index == nil || added.Index.Name != "raw" || added.Index.Values == 0 {
					t.Errorf("added: %+v", added)
				}
				consistent(t, db)
				same(t, db, digest)
			}
			ask(t, nil, "index", "verify", "raw", "--db", db)
		})
	}
}

// newestTxs returns the hashes of at least n transactions of a database, or of all if there are fewer.
func newestTxs(t *testing.T, dir string, n int) (hashes []string) {
	t.Helper()
	db := openReadOnly(t, dir)
	for h := int(db.Tip().Height); h > 0 && len(hashes) < n; h-- {
		b, err := db.Block(t.Context(), fmt.Sprint(h))
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, b.Txs...)
	}
	return hashes
}

func TestADatabaseWithoutRawTransactionsReportsIt(t *testing.T) {
	t.Parallel()
	db := first200(t)
	wantFailure(t, exitUsage, "no_raw", "birthmark index add raw", "tx", "--raw", firstPayment, "--db", db)
	wantFailure(t, exitRefused, "no_raw", "birthmark index add raw --db .*; or leave raw out", "sync", "--raw", "--source", "file://"+realBlocks(t), "--db", db)
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	for _, f := range status.Families {
		if strings.Contains(f.Name, "raw") {
			t.Errorf("it has %+v", f)
		}
	}
}
