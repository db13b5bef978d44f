package core_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// Open rejects a database of another chain or format, or with damaged meta rows, with an error that describes it. The
// database does not change.
func TestAForeignDatabaseIsRejectedUnchanged(t *testing.T) {
	v := modeltest.Variants()[1]
	blocks := v.NewGenerator(testseed.Of(t, 400)).Blocks(5)
	format := func(n uint64) []byte { return binary.AppendUvarint(nil, n) }
	catalogue := func(kind model.Kind, name string) []byte { // of one index with number 0 and its values
		return append(append([]byte{1, 0, byte(kind), 1, 0, 0, byte(len(name))}, name...), 0, 0)
	}
	for what, c := range map[string]struct {
		row   string
		value []byte
		kind  model.ErrorKind
		code  string
		says  string
	}{
		"newer format":             {"format", format(schema.FormatVersion + 1), model.Refused, "wrong_format", fmt.Sprint("format ", schema.FormatVersion+1)},
		"much newer format":        {"format", format(200), model.Refused, "wrong_format", "format 200"},
		"no format":                {"format", []byte{}, model.Internal, "internal", "meta format"},
		"more than a format":       {"format", append(format(schema.FormatVersion), 0), model.Internal, "internal", "meta format"},
		"another chain":            {"chain", []byte("dogecoin"), model.Refused, "wrong_chain", "dogecoin"},
		"another network":          {"network", []byte("two"), model.Refused, "wrong_network", "two"},
		"an unknown index":         {"indexes", catalogue(model.OneToMany, "colour"), model.Refused, "index_mismatch", "colour"},
		"an index of another kind": {"indexes", catalogue(model.OneToOne, "address"), model.Refused, "index_mismatch", "one-to-one"},
		"half a catalogue":         {"indexes", catalogue(model.OneToMany, "address")[:12], model.Internal, "internal", "meta indexes"},
		"half a tip":               {"tip", []byte{0, 0, 0, 1, 2}, model.Internal, "internal", "meta tip"},
		"half of the totals":       {"totals", []byte{0x80}, model.Internal, "internal", "totals"},
	} {
		s := &declared{Store: memory.New()}
		appendAll(t, open(t, s, v, 0), blocks, 5)
		meta := storage.Family(0)
		for _, d := range s.Declarations {
			if d.Name == "meta" {
				meta = d.Family
			}
		}
		put := func(value []byte) {
			err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error { b.Put(meta, []byte(c.row), value); return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		var good []byte
		for _, row := range rowsOf(t, s, meta) {
			if string(row.Key) == c.row {
				good = row.Value
			}
		}
		put(c.value)
		before := rowsOf(t, s, meta)
		for _, readOnly := range []bool{false, true} {
			_, err := core.Open(context.Background(), s, core.Options{Chain: v.Chain("one"), ReadOnly: readOnly})
			if kind(err) != c.kind || code(err) != c.code || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v (%s), expected %s with %q", what, err, code(err), c.code, c.says)
			}
		}
		if after := rowsOf(t, s, meta); text(after) != text(before) {
			t.Errorf("%s: a rejected database was changed", what)
		}
		put(good)
		db := open(t, s, v, 0)
		consistent(t, db)
		same(t, "opened again", dump(t, db), fresh(t, v, blocks))
	}
}

// Only a database without blocks is forgotten. It is then created again, with other options.
func TestOnlyDatabasesWithoutBlocksAreForgotten(t *testing.T) {
	v, s := modeltest.Variants()[1], memory.New()
	forget := func(want bool) {
		t.Helper()
		done, err := core.Forget(t.Context(), s)
		if err != nil || done != want {
			t.Errorf("forgotten: %v (%v), expected %v", done, err, want)
		}
		if _, known, err := core.Identify(t.Context(), s); err != nil || known == want {
			t.Errorf("known: %v (%v)", known, err)
		}
	}
	open(t, s, v, 0)
	forget(true)
	v.Raw = !v.Raw
	db := open(t, s, v, 0)
	if db.KeepsRaw() != v.Raw {
		t.Error("it has the options of before")
	}
	appendAll(t, db, v.NewGenerator(testseed.Of(t, 401)).Blocks(3), 3)
	forget(false)
}
