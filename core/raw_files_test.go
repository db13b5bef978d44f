package core_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/check"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// placed is a variant whose blocks have places in files.
func placed(t testing.TB) modeltest.Variant {
	v := like(t, "mixed")
	if !v.Placed {
		t.Fatal("the variant has no places")
	}
	return v
}

// readable checks that the raw transactions of blocks can be read, and that they are those of the blocks.
func readable(t *testing.T, db *core.DB, blocks []*model.Block) {
	t.Helper()
	hasher := db.Chain().(model.TxHasher)
	for _, b := range blocks {
		for i := range b.Txs {
			hash := b.Txs[i].Hash
			a, err := db.RawTx(t.Context(), hash.String())
			if err != nil {
				t.Fatalf("block %d: %v", b.Height, err)
			}
			raw, err := hex.DecodeString(a.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := hasher.HashTx(raw); err != nil || got != hash || len(raw) != b.Place.Sizes[i] {
				t.Fatalf("block %d, transaction %d: %d bytes of %s, %v", b.Height, i, len(raw), got, err)
			}
		}
	}
}

func rows(t *testing.T, s storage.Store, f storage.Family) int { return len(rowsOf(t, s, f)) }

// refused checks the kind, the code and a part of the text of an error.
func refused(t *testing.T, what string, err error, kind model.ErrorKind, code, text string) {
	t.Helper()
	if k, c := model.KindOf(err); err == nil || k != kind || c != code || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, expected %s with %q", what, err, code, text)
	}
}

func TestRawTransactionsAreReadFromFiles(t *testing.T) {
	for name, store := range stores() {
		t.Run(name, func(t *testing.T) {
			v := placed(t)
			g := v.NewGenerator(testseed.Of(t, 810))
			blocks := g.Blocks(30)
			s := store(t)
			db := open(t, s, v, 0)
			appendAll(t, db, blocks, 7)
			readable(t, db, blocks)
			consistent(t, db)
			for _, f := range []storage.Family{schema.FamilyPlace, schema.FamilySizes} {
				if n := rows(t, s, f); n != len(blocks) {
					t.Errorf("%d rows of family %d, expected %d", n, f, len(blocks))
				}
			}
			rollback(t, db, blocks[19].Point())
			if n, m := rows(t, s, schema.FamilyPlace), rows(t, s, schema.FamilySizes); n != 20 || m != 20 {
				t.Errorf("%d places and %d sizes after a rollback to 20 blocks", n, m)
			}
			readable(t, db, blocks[:20])
			consistent(t, db)
			rollback(t, db, model.Point{})
			if n, m := rows(t, s, schema.FamilyPlace), rows(t, s, schema.FamilySizes); n != 0 || m != 0 {
				t.Errorf("%d places and %d sizes after a rollback of everything", n, m)
			}
		})
	}
}

// Dumps and counts do not depend on the positions of blocks in the files of a node, or on whether they are recorded.
func TestPlacesAreNotPartOfTheDump(t *testing.T) {
	v := placed(t)
	seed := testseed.Of(t, 811)
	want := fresh(t, v, v.NewGenerator(seed).Blocks(25))
	for what, change := range map[string]func(*model.Block){
		"other files": func(b *model.Block) { b.Place.File, b.Place.Offset = "/mnt/blk1.dat", b.Place.Offset+7 },
		"no files":    func(b *model.Block) { b.Place = nil },
	} {
		blocks := v.NewGenerator(seed).Blocks(25)
		for _, b := range blocks {
			change(b)
		}
		same(t, what, fresh(t, v, blocks), want)
	}
}

// Places can be added to a database that was created without them, and found again.
func TestPlacesAreAddedToADatabase(t *testing.T) {
	ctx := context.Background()
	v := placed(t)
	seed := testseed.Of(t, 812)
	blocks := v.NewGenerator(seed).Blocks(30)
	without := v
	without.Placed = false
	s := memory.New()
	db := open(t, s, without, 0)
	appendAll(t, db, blocks, 7)
	hash := blocks[12].Txs[0].Hash.String()
	_, err := db.RawTx(ctx, hash)
	refused(t, "without places", err, model.Usage, "no_raw", "index add raw")
	_, err = core.Open(ctx, s, core.Options{Chain: v.Chain("one"), RawFiles: true})
	refused(t, "opened for places", err, model.Refused, "no_raw", "index add raw")

	source := blocks
	add := func() error {
		if err := db.AddIndex(ctx, schema.RawFilesName, model.IndexOptions{}); err != nil {
			return err
		}
		return db.Build(ctx, func(context.Context, *schema.Index, []model.Point) (model.Source, error) { return events(source), nil },
			backfill.Options{Weight: 50})
	}
	bad := *blocks[3]
	bad.Place = &model.Place{File: "f", Sizes: append([]int{1}, bad.Place.Sizes...)}
	source = slices.Concat(blocks[:3], []*model.Block{&bad}, blocks[4:])
	refused(t, "wrong sizes", add(), model.BadSource, "bad_block", "sizes of")
	none := *blocks[12]
	none.Place = nil
	source = slices.Concat(blocks[:12], []*model.Block{&none}, blocks[13:])
	if err := add(); err != nil {
		t.Fatal(err)
	}
	consistent(t, db)
	_, err = db.RawTx(ctx, hash)
	refused(t, "unknown place", err, model.NotFound, "no_raw", "the place of block")
	source = blocks
	if err := add(); err != nil {
		t.Fatal(err)
	}
	consistent(t, db)
	readable(t, db, blocks)
	same(t, "with places added", dump(t, db), fresh(t, v, v.NewGenerator(seed).Blocks(30)))

	refused(t, "transactions in addition", db.AddIndex(ctx, schema.RawName, model.IndexOptions{}), model.Usage, "exists", "index drop raw")
	kept := open(t, memory.New(), like(t, "like-bitcoin"), 0)
	refused(t, "stored transactions", kept.AddIndex(ctx, schema.RawName, model.IndexOptions{}), model.Usage, "exists", "index drop raw")
}

// The error names a file that was deleted, moved or replaced.
func TestABlockFileThatIsGoneIsNamed(t *testing.T) {
	v := placed(t)
	v.Repeats = false
	blocks := v.NewGenerator(testseed.Of(t, 813)).Blocks(12)
	blocks[5].Place.File = "/pruned/blk00005.dat"
	blocks[6].Place.File = blocks[7].Place.File
	blocks[8].Place.File = strings.Replace(blocks[8].Place.File, modeltest.FileFolder, "/old", 1)
	blocks[7].Place.Sizes[0] += 1000
	blocks[7].Size += 1000
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 5)
	read := func(i int) error {
		_, err := db.RawTx(t.Context(), blocks[i].Txs[0].Hash.String())
		return err
	}
	refused(t, "pruned", read(5), model.NotFound, "no_raw", "/pruned/blk00005.dat")
	refused(t, "replaced", read(6), model.NotFound, "no_raw", blocks[7].Place.File)
	refused(t, "truncated", read(7), model.NotFound, "no_raw", "ends before")
	refused(t, "moved", read(8), model.NotFound, "no_raw", "/old/blk")
	db.SetRawAccess(pointers.RawAccess{Folder: modeltest.FileFolder})
	if err := read(8); err != nil {
		t.Errorf("in the configured folder: %v", err)
	}
}

// nodeOf is a node with the transactions of blocks.
type nodeOf struct {
	txs   map[model.Hash][]byte
	asked []string
	fails error
}

func (n *nodeOf) RawTx(_ context.Context, block model.Point, index int, tx model.Hash) ([]byte, error) {
	n.asked = append(n.asked, fmt.Sprint(block.Height, index, tx))
	return n.txs[tx], n.fails
}

func (n *nodeOf) Close() error { return nil }

func TestRawTransactionsAreReadFromANode(t *testing.T) {
	v := like(t, "like-bitcoin")
	blocks := v.NewGenerator(testseed.Of(t, 814)).Blocks(15)
	v.Raw = false
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 5)
	n := &nodeOf{txs: map[model.Hash][]byte{}}
	at := map[model.Hash]string{}
	for _, b := range blocks {
		for i := range b.Txs {
			tx := &b.Txs[i]
			n.txs[tx.Hash], at[tx.Hash] = tx.Raw, fmt.Sprint(b.Height, i, tx.Hash)
		}
	}
	db.SetRawAccess(pointers.RawAccess{Node: n})
	hash := blocks[9].Txs[0].Hash
	_, err := db.RawTx(t.Context(), hash.String())
	refused(t, "a node for files only", err, model.Usage, "no_raw", "raw: node")

	db.SetRawAccess(pointers.RawAccess{Node: n, Ask: true})
	for id, place := range at {
		n.asked = nil
		a, err := db.RawTx(t.Context(), id.String())
		if err != nil || a.Raw != hex.EncodeToString(n.txs[id]) || len(n.asked) != 1 || n.asked[0] != place {
			t.Fatalf("%+v, %v: requested %v, expected %s", a, err, n.asked, place)
		}
	}
	n.txs[hash] = bytes.Repeat([]byte{7}, 40)
	_, err = db.RawTx(t.Context(), hash.String())
	refused(t, "other bytes", err, model.BadSource, "bad_answer", "found the bytes of")
	n.fails = errors.New("the node is away")
	if _, err = db.RawTx(t.Context(), hash.String()); !errors.Is(err, n.fails) {
		t.Errorf("the node's error is lost: %v", err)
	}
}

// Blocks without a recorded place are read from the node, if there is one.
func TestANodeFillsTheGapsOfFiles(t *testing.T) {
	v := placed(t)
	blocks := v.NewGenerator(testseed.Of(t, 815)).Blocks(10)
	place := blocks[6].Place
	blocks[6].Place = nil
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 5)
	n := &nodeOf{txs: map[model.Hash][]byte{}}
	files := db.Chain().(model.RawFiles).RawFiles()
	offset := place.Offset
	for i, size := range place.Sizes {
		raw, err := files.ReadRaw(place.File, offset, size)
		if err != nil {
			t.Fatal(err)
		}
		n.txs[blocks[6].Txs[i].Hash], offset = raw, offset+uint64(size)
	}
	db.SetRawAccess(pointers.RawAccess{Node: n})
	blocks[6].Place = place
	readable(t, db, blocks)
	if len(n.asked) != len(place.Sizes) {
		t.Errorf("%d transactions were requested from the node, expected %d", len(n.asked), len(place.Sizes))
	}
}

func TestCheckFindsDamagedPlaces(t *testing.T) {
	v := placed(t)
	s := memory.New()
	db := open(t, s, v, 0)
	appendAll(t, db, v.NewGenerator(testseed.Of(t, 816)).Blocks(10), 5)
	place, sizes := rowsOf(t, s, schema.FamilyPlace)[4], rowsOf(t, s, schema.FamilySizes)[4]
	unknown := model.HeightPk(77).AppendTo(nil)
	for what, damage := range map[string]func(b storage.Batch){
		"place missing":   func(b storage.Batch) { b.Delete(schema.FamilyPlace, place.Key) },
		"sizes missing":   func(b storage.Batch) { b.Delete(schema.FamilySizes, place.Key) },
		"no path":         func(b storage.Batch) { b.Put(schema.FamilyPlace, place.Key, []byte{80}) },
		"one size less":   func(b storage.Batch) { b.Put(schema.FamilySizes, place.Key, nil) },
		"sizes too large": func(b storage.Batch) { b.Put(schema.FamilySizes, place.Key, bytes.Repeat([]byte{0xff}, 3)) },
		"unknown block": func(b storage.Batch) {
			b.Put(schema.FamilyPlace, unknown, place.Value)
			b.Put(schema.FamilySizes, unknown, sizes.Value)
		},
	} {
		update(t, s, damage)
		if a, err := db.Check(t.Context(), check.Options{}); err != nil || a.OK {
			t.Errorf("%s: the check found nothing, %v", what, err)
		}
		update(t, s, func(b storage.Batch) {
			b.Delete(schema.FamilyPlace, unknown)
			b.Delete(schema.FamilySizes, unknown)
			b.Put(schema.FamilyPlace, place.Key, place.Value)
			b.Put(schema.FamilySizes, place.Key, sizes.Value)
		})
	}
	consistent(t, db)
}
