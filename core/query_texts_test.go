package core_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// withTexts opens a database that stores the texts of every index, independent of the variant.
func withTexts(t *testing.T, v modeltest.Variant) *core.DB {
	t.Helper()
	keep := map[string]model.IndexOptions{}
	for _, name := range modeltest.IndexNames {
		o := v.Keep()[name]
		o.Prefix = true
		keep[name] = o
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// textOrder is the values of an index in the order of their texts, with the significant part of each text.
type textOrder struct {
	index  string
	values []headed
}

type headed struct {
	head  string
	entry entry
}

func (r *reference) textOrder(index int) *textOrder {
	x := r.indexes[index]
	o := &textOrder{index: x.Name}
	for _, value := range r.values(index) {
		text := x.Format([]byte(value))
		first := r.where(index, value)[0]
		a := query.ValueAnswer{Value: text, FirstSeen: query.FirstSeenAnswer{Tx: r.hash(first.tx), Index: first.index, Height: first.tx.height}}
		o.values = append(o.values, headed{text[:min(255, len(text))], entry{texts([]query.ValueAnswer{a})[0], 0, first.tx.height}})
	}
	slices.SortStableFunc(o.values, func(a, b headed) int { return cmp.Compare(a.head, b.head) })
	return o
}

// from returns the list of the values that begin with prefix. The positions of its entries are not stable: see rest.
func (o *textOrder) from(prefix string) *list {
	l := &list{name: fmt.Sprintf("values of %s from %.40q on", o.index, prefix)}
	for _, v := range o.values {
		if strings.HasPrefix(v.head, prefix) {
			l.entries = append(l.entries, v.entry)
		}
	}
	l.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
		a, err := db.ValuesByText(context.Background(), o.index, prefix, p)
		if err != nil {
			return nil, nil, err
		}
		if a.Index != o.index || a.Prefix != prefix || a.Count != uint64(len(o.values)) {
			return nil, nil, fmt.Errorf("%d values of %s from %q on, expected %d of %s", a.Count, a.Index, a.Prefix, len(o.values), o.index)
		}
		return texts(a.Values), a.Next, nil
	}
	return l
}

// rest returns the entries after the given one.
func (l *list) rest(behind entry, descending bool) []entry {
	entries := l.in(descending)
	return entries[slices.Index(entries, behind)+1:]
}

func TestValuesByTextAreAllValuesFiltered(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 770)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(25)
		db := withTexts(t, v)
		appendAll(t, db, blocks, 7)
		r := newReference(v, blocks)
		found := 0
		for i, x := range r.indexes {
			prefixes := []string{"", x.Name[:1], "zebra", x.Name[:1] + "\x00"}
			for n, value := range r.values(i) {
				text := x.Format([]byte(value))
				text = text[:min(len(text), 255)]
				prefixes = append(prefixes, text[:rng.IntN(min(len(text), 1+n%6))], text, text[:len(text)-1]+"g", (text + "\x00")[:min(255, len(text)+1)])
			}
			order := r.textOrder(i)
			for _, prefix := range prefixes {
				l := order.from(prefix)
				found += len(l.entries)
				for _, descending := range []bool{false, true} {
					l.walk(t, db, query.Page{Limit: 1 + rng.IntN(20), Descending: descending}, l.in(descending))
				}
			}
		}
		if found == 0 {
			t.Error("no prefix was tested")
		}
		consistent(t, db)
	})
}

// If values are added or removed between two pages, the following pages equal those of the new state. A cursor whose
// value was removed is rejected.
func TestPagesByTextDuringGrowthAndRollback(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 771)).Blocks(30)
		db := withTexts(t, v)
		appendAll(t, db, blocks[:20], 7)
		refused := 0
		then, earlier, later := newReference(v, blocks[:20]), newReference(v, blocks[:10]), newReference(v, blocks)
		for i, x := range then.indexes {
			prefix := x.Name[:1]
			l, l10, l30 := then.textOrder(i).from(prefix), earlier.textOrder(i).from(prefix), later.textOrder(i).from(prefix)
			other := then.textOrder(i).from("")
			for _, descending := range []bool{false, true} {
				for _, limit := range []int{1, 4} {
					p := query.Page{Limit: limit, Descending: descending}
					_, next, err := l.page(db, p)
					if err != nil {
						t.Fatalf("%s: %v", l.name, err)
					}
					if next == nil {
						continue
					}
					last := l.in(descending)[limit-1]
					p.After = *next
					l.walk(t, db, p, l.rest(last, descending))

					for what, bad := range map[string]query.Page{
						"the other order": {After: p.After, Descending: !descending},
						"cut":             {After: p.After[:len(p.After)-4], Descending: descending},
						"of all values":   {After: firstCursor(t, db, x.Name), Descending: descending},
					} {
						if _, _, err := l.page(db, bad); code(err) != "bad_cursor" {
							t.Errorf("%s, %s: %v", l.name, what, err)
						}
					}
					if _, _, err := other.page(db, p); code(err) != "bad_cursor" {
						t.Errorf("%s: its cursor with another prefix: %v", l.name, err)
					}

					appendAll(t, db, blocks[20:], 3)
					l30.walk(t, db, p, l30.rest(last, descending))
					rollback(t, db, point(blocks, 9))
					if last.height <= uint32(blocks[9].Height) {
						l10.walk(t, db, p, l10.rest(last, descending))
					} else if _, _, err := l10.page(db, p); code(err) != "cursor_rolled_back" {
						t.Errorf("%s: the cursor after height %d: %v", l.name, last.height, err)
					} else {
						refused++
					}
					appendAll(t, db, blocks[10:20], 4)
				}
			}
		}
		if refused == 0 {
			t.Error("no cursor was rejected")
		}
		consistent(t, db)
	})
}

// firstCursor returns the cursor after the first value of an index.
func firstCursor(t *testing.T, db *core.DB, index string) string {
	t.Helper()
	a, err := db.Values(t.Context(), index, query.Page{Limit: 1})
	if err != nil || a.Next == nil {
		t.Fatalf("values of %s: %+v, %v", index, a, err)
	}
	return *a.Next
}

// Texts with the same stored prefix are in the order of first occurrence, and their values are returned completely.
func TestTruncatedTextsAreDistinct(t *testing.T) {
	long := strings.Repeat("l", 200)
	var outputs []model.Output
	for _, end := range []string{"c", "a", "b", ""} {
		outputs = append(outputs, model.Output{Keys: []model.Key{key(0, long+end)}})
	}
	outputs = append(outputs, model.Output{Keys: []model.Key{key(0, long[:127])}}, model.Output{Keys: []model.Key{key(0, "k")}})
	blocks := []*model.Block{after(nil, 1)}
	blocks = append(blocks, after(blocks[0], 2, model.Tx{Hash: hash(3), Inputs: []model.Input{{Tx: hash(1)}}, Outputs: outputs}))
	db := withTexts(t, bitcoin)
	appendAll(t, db, blocks, 2)
	r := newReference(bitcoin, blocks)
	order := r.textOrder(0)
	for _, prefix := range []string{"", "a6c", "a6b", r.indexes[0].Format([]byte(long))[:255]} {
		l := order.from(prefix)
		for limit := range 7 {
			for _, descending := range []bool{false, true} {
				l.walk(t, db, query.Page{Limit: limit + 1, Descending: descending}, l.in(descending))
			}
		}
	}
	if got := len(order.from("a6c").entries); got != 5 {
		t.Errorf("%d values begin with a6c, expected 5", got)
	}
	if _, err := db.ValuesByText(t.Context(), "address", strings.Repeat("x", 255), query.Page{}); err != nil {
		t.Errorf("a prefix of 255 bytes: %v", err)
	}
	if _, err := db.ValuesByText(t.Context(), "address", strings.Repeat("x", 256), query.Page{}); kind(err) != model.Usage || code(err) != "bad_value" {
		t.Errorf("a prefix of 256 bytes: %v", err)
	}
	plain := open(t, memory.New(), bitcoin, 0)
	if _, err := plain.ValuesByText(t.Context(), "address", "a", query.Page{}); kind(err) != model.Usage || code(err) != "not_kept" || !strings.Contains(err.Error(), "birthmark index add address") {
		t.Errorf("order by text without stored texts: %v", err)
	}
	consistent(t, db)
}
