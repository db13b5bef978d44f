package cache

import (
	"bufio"
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"birthmark/core/schema"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// accountIndexes returns n indexes with accounts, and one without.
func accountIndexes(n int) (indexes []*schema.Index) {
	for i := range n + 1 {
		x := &schema.Index{Index: model.Index{Name: fmt.Sprint(i)}, Number: i}
		if x.Active = schema.FeatureValues; i < n {
			x.Active |= schema.FeatureBalance
		}
		indexes = append(indexes, x)
	}
	return indexes
}

// No cache exceeds its share of the memory, and all together do not exceed the budget, apart from entries of unwritten
// batches; and they use most of it. This holds for any number of indexes with accounts.
func TestEveryCacheStaysWithinItsShare(t *testing.T) {
	testrun.Slow(t)
	const perWindow, unwritten, windows = 1000, 3, 400
	for _, bytes := range []int64{0, 1 << 20, 4 << 20} {
		for accounts := range 3 {
			t.Run(fmt.Sprintf("%d bytes, %d indexes with accounts", bytes, accounts), func(t *testing.T) {
				indexes := accountIndexes(accounts)
				c := New(bytes, indexes)
				c.Known.complete = true
				filterFull := false
				for w := range windows {
					c.Pin(model.UtxoPk(max(0, w+1-unwritten)*perWindow + 1))
					for i := range perWindow {
						pk := model.UtxoPk(w*perWindow + i + 1)
						key := c.Fingerprints.Value(0, pk.AppendTo(nil))
						c.Unspent.Put(key, uint64(pk), 1<<60) // a number that does not fit into the entry
						c.PutBirth(key, model.BirthPk{Utxo: pk})
						c.Known.Add(key)
						for _, x := range indexes {
							c.PutOwner(x, pk, &model.BirthPk{Utxo: pk / 2})
						}
					}
					held := c.Known.bytes
					for name, table := range c.tables() {
						// Pinned entries fill at least half of the slots.
						if got, most := tableBytes(table), int64(table.capacity*entrySize); got > most && got > 2*unwritten*perWindow*entrySize {
							t.Fatalf("%s has %d bytes of %d after %d windows", name, got, most, w)
						}
						if len(table.overflow) > table.used {
							t.Fatalf("%s has %d large numbers for %d entries", name, len(table.overflow), table.used)
						}
						held += tableBytes(table)
					}
					if bytes > 0 && held > bytes {
						t.Fatalf("all caches have %d bytes of %d after %d windows", held, bytes, w)
					}
					filterFull = filterFull || !c.Known.complete
				}
				if bytes == 0 {
					return
				}
				if !filterFull {
					t.Errorf("the filter never reached its bound of %d bytes", c.Known.maxBytes)
				}
				for name, table := range c.tables() {
					if table.capacity > 0 && table.used < table.capacity*3/4 {
						t.Errorf("%s keeps %d entries in %d places", name, table.used, table.capacity)
					}
				}
			})
		}
	}
}

func tableBytes(t *Table) int64 { return int64(len(t.entries)) * entrySize }

// When an index with accounts is added, its owners get memory of the same budget: other tables drop their oldest
// entries. When it is dropped, its table goes.
func TestCachesAreDividedAgainWhenIndexesChange(t *testing.T) {
	const bytes, entries = 4 << 20, 400_000
	all := accountIndexes(2)
	c := New(bytes, all[2:])
	c.Pin(nothingPinned)
	keys := make([]Fingerprint, entries)
	for i := range keys {
		keys[i] = c.Fingerprints.Value(0, model.UtxoPk(i).AppendTo(nil))
		c.Unspent.Put(keys[i], uint64(i), uint64(i))
		c.PutBirth(keys[i], model.BirthPk{Utxo: model.UtxoPk(i), Ordinal: uint16(i)})
	}
	before := c.Births.used
	for n, indexes := range [][]*schema.Index{all[1:], all, all[2:]} {
		c.Divide(indexes)
		held := c.Known.maxBytes
		for name, table := range c.tables() {
			sound(t, table)
			held += tableBytes(table)
			if got, most := tableBytes(table), int64(table.capacity*entrySize); got > most {
				t.Errorf("division %d: %s has %d bytes of %d", n, name, got, most)
			}
		}
		if accounts := len(indexes) - 1; len(c.owners) != accounts || held > bytes {
			t.Errorf("division %d: %d tables of owners, expected %d; %d bytes of %d", n, len(c.owners), accounts, held, bytes)
		}
		for _, x := range indexes {
			for i := range model.UtxoPk(entries) {
				c.PutOwner(x, i, nil)
			}
		}
		if c.Births.used < before/2 || c.Births.used > before*3/4 {
			t.Errorf("division %d: %d births of %d are left", n, c.Births.used, before)
		}
		young := 0
		for i := range keys {
			at, ok := c.Birth(keys[i])
			if ok && at != (model.BirthPk{Utxo: model.UtxoPk(i), Ordinal: uint16(i)}) {
				t.Fatalf("division %d: birth %d is %v", n, i, at)
			}
			if ok && i >= entries*9/10 {
				young++
			}
		}
		if young < entries/10*95/100 {
			t.Errorf("division %d: of the %d youngest births %d are left", n, entries/10, young)
		}
	}
}

// At any distance from the birth of its value, an output is distinguished from an output without a value.
func TestOwnersOfAnyDistance(t *testing.T) {
	x := accountIndexes(1)[0]
	c := New(1<<20, []*schema.Index{x})
	born := &model.BirthPk{Utxo: 5 << 19}
	for _, distance := range []model.UtxoPk{0, 1, 1<<61 - 1, 1 << 61, 1<<61 + 1, 1<<62 - 2, 1<<62 - 1, 1 << 62, 1 << 63} {
		pk := born.Utxo + distance
		c.PutOwner(x, pk, born)
		if got, ok := c.TakeOwner(x, pk); !ok || got == nil || *got != *born {
			t.Errorf("at a distance of %d: %v, %t", uint64(distance), got, ok)
		}
		c.PutOwner(x, pk, nil)
		if got, ok := c.TakeOwner(x, pk); !ok || got != nil {
			t.Errorf("without a value: %v, %t", got, ok)
		}
		if _, ok := c.TakeOwner(x, pk); ok {
			t.Error("an owner is taken twice")
		}
	}
	if c.owners[x.Number].pinFloor != nothingPinned {
		t.Error("owners are pinned")
	}
}

// The snapshot of a table that is far larger than its entries takes no memory for the rest.
func TestSnapshotOfALargeTableTakesLittleMemory(t *testing.T) {
	const entries, most = 1_000_000, 2_000
	c := New(64<<20, nil)
	for i := range model.UtxoPk(entries) {
		key := c.Fingerprints.Value(0, i.AppendTo(nil))
		c.PutBirth(key, model.BirthPk{Utxo: i})
		c.Birth(key) // marks it as referenced
	}
	var before, after runtime.MemStats
	var b bytes.Buffer
	b.Grow(1 << 20)
	runtime.ReadMemStats(&before)
	out := &snapshotWriter{w: &b}
	c.Births.write(out, most)
	out.flush()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("a snapshot of %d births took %d bytes of memory", most, took)
	}
	again := newTable(1<<20, ordinalBits)
	again.read(&snapshotReader{r: bufio.NewReader(&b)})
	oldest := uint64(entries)
	for _, e := range again.entries {
		if e.tag != 0 {
			oldest = min(oldest, e.pk)
		}
	}
	// The age from which births are saved is estimated from one entry in 11: the standard deviation is 7%.
	if again.used < most*6/10 || again.used > most*14/10 || oldest < entries-2*most {
		t.Errorf("%d births were saved from %v on, expected the youngest %d", again.used, oldest, most)
	}
}
