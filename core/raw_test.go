package core_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

const rawFamily = "raw_by_tx_pk"

// like returns the variant with a name.
func like(t testing.TB, name string) modeltest.Variant {
	t.Helper()
	for _, v := range modeltest.Variants() {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no variant %s", name)
	return modeltest.Variant{}
}

func TestRawTransactionsEqualTheSource(t *testing.T) {
	for name, store := range stores() {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			v := like(t, "like-cardano") // a chain with genesis outputs
			blocks := v.NewGenerator(testseed.Of(t, 800)).Blocks(12)
			s := store(t)
			appendAll(t, open(t, s, v, 0), blocks, 5)
			db, err := core.Open(ctx, s, core.Options{Chain: v.Chain("one")}) // options are read from the database
			if err != nil || !db.KeepsRaw() {
				t.Fatalf("reopened without raw transactions, %v", err)
			}
			txs := 0
			for _, b := range blocks {
				for i := range b.Txs {
					a, err := db.RawTx(ctx, b.Txs[i].Hash.String())
					if err != nil || a.Tx != b.Txs[i].Hash.String() || a.Raw != hex.EncodeToString(b.Txs[i].Raw) {
						t.Errorf("%+v, %v, expected %x", a, err, b.Txs[i].Raw)
					}
					txs++
				}
			}
			status, err := db.Status(ctx)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(status.Families, func(f query.FamilyAnswer) bool { return f.Name == rawFamily })
			if i < 0 || status.Families[i].Rows() != uint64(txs) || txs == 0 {
				t.Errorf("status has %+v for %d transactions", status.Families, txs)
			}
			for what, c := range map[string]struct {
				hash string
				kind model.ErrorKind
				code string
			}{
				"genesis":     {blocks[0].Genesis[0].Hash.String(), model.NotFound, "no_raw"},
				"unknown":     {hash(7).String(), model.NotFound, "unknown_tx"},
				"not a hash":  {"7", model.Usage, "bad_value"},
				"empty hash ": {"", model.Usage, "bad_value"},
			} {
				a, err := db.RawTx(ctx, c.hash)
				if kind, code := model.KindOf(err); a != nil || kind != c.kind || code != c.code {
					t.Errorf("%s: %+v, %v", what, a, err)
				}
			}
		})
	}
}

// A database without raw transactions has the same rows whether or not its source provides them, and its error
// explains how to get them.
func TestRawTransactionsAreOptional(t *testing.T) {
	ctx := context.Background()
	v := like(t, "like-bitcoin")
	blocks := v.NewGenerator(testseed.Of(t, 801)).Blocks(20)
	with := fresh(t, v, blocks)
	plain := v
	plain.Raw = false
	s := memory.New()
	db := open(t, s, plain, 0)
	appendAll(t, db, blocks, 6)
	consistent(t, db)
	got := dump(t, db)
	of := func(d dumped) (rows dumped) {
		for _, row := range d {
			if !strings.HasPrefix(row, rawFamily) && !strings.HasPrefix(row, "meta") {
				rows = append(rows, row)
			}
		}
		return rows
	}
	same(t, "without raw", of(got), of(with))
	if rows := strings.Join(got, "\n"); strings.Contains(rows, rawFamily) || len(of(with)) == len(with) {
		t.Error("the database has rows of raw transactions")
	}
	_, err := db.RawTx(ctx, blocks[0].Txs[0].Hash.String())
	if kind, code := model.KindOf(err); kind != model.Usage || code != "no_raw" || !strings.Contains(err.Error(), "index add raw") {
		t.Errorf("request for raw bytes: %v", err)
	}
	_, err = core.Open(ctx, s, core.Options{Chain: v.Chain("one"), Raw: true})
	if kind, code := model.KindOf(err); kind != model.Refused || code != "no_raw" || !strings.Contains(err.Error(), "birthmark index add raw") {
		t.Errorf("opened with raw bytes: %v", err)
	}
}

func TestABlockWithoutRawBytesIsRejected(t *testing.T) {
	v := like(t, "like-bitcoin")
	blocks := v.NewGenerator(testseed.Of(t, 802)).Blocks(10)
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks[:9], 4)
	want := dump(t, db)
	bare := *blocks[9]
	bare.Txs = slices.Clone(bare.Txs)
	bare.Txs[len(bare.Txs)-1].Raw = nil
	err := db.Append(context.Background(), []*model.Block{&bare})
	kind, code := model.KindOf(err)
	if kind != model.BadSource || code != "bad_block" || !strings.Contains(err.Error(), bare.Txs[len(bare.Txs)-1].Hash.String()) || !strings.Contains(err.Error(), "block 9") {
		t.Errorf("a transaction without bytes: %v", err)
	}
	same(t, "after the bad block", dump(t, db), want)
	appendAll(t, db, blocks[9:], 1)
	consistent(t, db)
}

// Check finds the raw bytes of another transaction, even if the hashed part is correct.
func TestCheckFindsBytesOfAnotherTransaction(t *testing.T) {
	v := like(t, "like-bitcoin")
	s := &declared{Store: memory.New()}
	db := open(t, s, v, 0)
	appendAll(t, db, v.NewGenerator(testseed.Of(t, 803)).Blocks(15), 4)
	var family storage.Family
	for _, d := range s.Declarations {
		if d.Name == rawFamily {
			family = d.Family
		}
	}
	rows := rowsOf(t, s, family)
	swapped := func(from int) (a, b []byte) {
		x, y := rows[0].Value, rows[1].Value
		return slices.Concat(x[:from], y[from:]), slices.Concat(y[:from], x[from:])
	}
	if bytes.Equal(rows[0].Value[32:], rows[1].Value[32:]) {
		t.Fatalf("the first transactions have the same bytes after their hash: %x", rows[0].Value)
	}
	for _, from := range []int{0, 32} {
		a, b := swapped(from)
		update(t, s, func(batch storage.Batch) { batch.Put(family, rows[0].Key, a); batch.Put(family, rows[1].Key, b) })
		if answer, err := db.Check(context.Background(), check.Options{}); err != nil || answer.OK {
			t.Errorf("bytes swapped from %d on are not found, %v", from, err)
		}
	}
	update(t, s, func(batch storage.Batch) {
		for _, row := range rows {
			batch.Put(family, row.Key, row.Value)
		}
	})
	consistent(t, db)
}
