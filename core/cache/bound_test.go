package cache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"birthmark/core/schema"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
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

// lookUp resolves a batch: the births of values that occur at the given pointers, and outputs that are made and spent.
func lookUp(c *Caches, values map[model.UtxoPk][]byte, spent []model.UtxoPk) (births map[model.UtxoPk]model.BirthPk, l *Lookups, missed []int32) {
	pks := slices.Sorted(maps.Keys(values))
	l = c.Prepare(1, len(pks), len(pks), len(spent))
	for i, pk := range pks {
		l.Births[i], l.Outputs[i] = model.BirthPk{Utxo: pk}, Output{pk, valueOf(pk)}
		for word := range c.Words() {
			l.OutputOwners[i*c.Words()+word] = NewOwner(pk, model.BirthPk{Utxo: pk / model.UtxoPk(word+2)})
		}
		c.AddBirth(&l.Chunks[0], c.Fingerprints.Value(0, values[pk]), i, false)
		c.AddOutput(&l.Chunks[0], outputKey(c, pk), i)
	}
	for i, pk := range spent {
		c.AddSpend(&l.Chunks[0], outputKey(c, pk), i)
	}
	if pending, _ := c.Births(l); len(pending) > 0 {
		panic("births are looked up")
	}
	missed = c.Outputs(l)
	births = map[model.UtxoPk]model.BirthPk{}
	for i, pk := range pks {
		births[pk] = l.Births[i]
	}
	return births, l, missed
}

func outputKey(c *Caches, pk model.UtxoPk) Fingerprint {
	return c.Fingerprints.Value(1, pk.AppendTo(nil))
}

// valueOf returns the value of an output; some do not fit into an entry.
func valueOf(pk model.UtxoPk) uint64 { return uint64(pk) * SpreadA >> (pk % 30) }

// Tables and overflow runs stay within the memory, apart from entries of unwritten batches, and use most of it. Every
// birth and every unspent output is found with all that belongs to it, in tables or in runs.
func TestOverflowStaysWithinItsMemory(t *testing.T) {
	testrun.Slow(t)
	const perBatch, unwritten = 2000, 3
	seed := testseed.Of(t, 330)
	for _, bytes := range []int64{1 << 19, 4 << 20, 24 << 20} {
		for accounts := range 3 {
			if bytes == 24<<20 && accounts != 1 {
				continue // as many batches as for all smaller sizes
			}
			t.Run(fmt.Sprintf("%d bytes, %d indexes with accounts", bytes, accounts), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(bytes)+uint64(accounts)))
				c := New(bytes, accountIndexes(accounts))
				c.SetFolder(filepath.Join(t.TempDir(), "overflow"), math.MaxInt)
				c.StartEmpty()
				firsts := map[uint64]model.UtxoPk{} // the birth of each value
				var unspent []model.UtxoPk
				batches := 60 + int(bytes/(30*perBatch))
				for w := range batches {
					c.Pin(model.UtxoPk(max(0, w+1-unwritten)*perBatch + 1))
					values, numbers := map[model.UtxoPk][]byte{}, map[model.UtxoPk]uint64{}
					var made []model.UtxoPk
					for i := range perBatch {
						pk := model.UtxoPk(w*perBatch + i + 1)
						number := uint64(w*perBatch + i)
						if i%3 == 0 {
							number = rng.Uint64N(number + 1)
						}
						if _, known := firsts[number]; !known {
							firsts[number] = pk
						}
						values[pk], numbers[pk] = binary.LittleEndian.AppendUint64(nil, number), number
						made = append(made, pk)
					}
					var spent []model.UtxoPk
					for range perBatch / 2 {
						if len(unspent) > 0 {
							i := rng.IntN(len(unspent))
							spent = append(spent, unspent[i])
							unspent[i] = unspent[len(unspent)-1]
							unspent = unspent[:len(unspent)-1]
						}
					}
					unspent = append(unspent, made...)
					births, l, missed := lookUp(c, values, spent)
					for pk, birth := range births {
						if want := firsts[numbers[pk]]; birth.Utxo != want {
							t.Fatalf("batch %d: the birth of the value at %d is %v, expected %d", w, pk, birth, want)
						}
					}
					if len(missed) > 0 {
						t.Fatalf("batch %d: %d of %d unspent outputs are missing", w, len(missed), len(spent))
					}
					for i, pk := range spent {
						if l.Spent[i] != (Output{pk, valueOf(pk)}) {
							t.Fatalf("batch %d: output %d is %v", w, pk, l.Spent[i])
						}
						for word := range c.Words() {
							owner := l.SpentOwners[i*c.Words()+word]
							if birth, some, known := owner.Birth(pk); !some || !known || birth.Utxo != pk/model.UtxoPk(word+2) {
								t.Fatalf("batch %d: owner %d of output %d is %v", w, word, pk, birth)
							}
						}
					}
					held := int64(0)
					for i := range c.shards {
						s := &c.shards[i]
						held += s.unspent.bytes() + s.births.bytes() + s.runMemory()
					}
					if most := bytes + bytes/10 + 2*unwritten*perBatch*(slotSize(accounts)+entrySize); held > most {
						t.Fatalf("batch %d: %d bytes of %d", w, held, bytes)
					}
				}
				stats := c.RunStats()
				if stats.Files == 0 || stats.Entries < int64(len(firsts))/2 {
					t.Errorf("%+v after %d values", stats, len(firsts))
				}
				if files, _ := os.ReadDir(c.runs.folder); len(files) < stats.Files {
					t.Errorf("%d files of %d runs", len(files), stats.Files)
				}
				for name, table := range c.tables() {
					sound(t, table)
					if table.used < table.capacity*3/10 {
						t.Errorf("%s has %d entries in %d slots", name, table.used, table.capacity)
					}
				}
				c.Settle()
				for i := range c.shards {
					if left := len(c.shards[i].birthRuns); left > 0 {
						t.Errorf("%d runs of births are left", left)
					}
				}
				_, _, missed := lookUp(c, nil, unspent)
				if len(missed) > 0 {
					t.Errorf("at the tip, %d of %d unspent outputs are missing", len(missed), len(unspent))
				}
			})
		}
	}
}

// Without a folder for runs, tables evict old entries and stay within the memory.
func TestTablesEvictWithinTheirMemory(t *testing.T) {
	testrun.Slow(t)
	const perBatch, unwritten = 1000, 3
	for _, bytes := range []int64{0, 1 << 20, 4 << 20} {
		c := New(bytes, accountIndexes(1))
		for w := range 300 {
			c.Pin(model.UtxoPk(max(0, w+1-unwritten)*perBatch + 1))
			held := int64(0)
			for i := range perBatch {
				pk := model.UtxoPk(w*perBatch + i + 1)
				c.PutOutput(outputKey(c, pk), uint64(pk), 1<<60) // a number that does not fit into the entry
				c.PutBirth(c.Fingerprints.Value(0, pk.AppendTo(nil)), model.BirthPk{Utxo: pk})
			}
			for name, table := range c.tables() {
				held += table.bytes()
				if len(table.overflow) > table.used {
					t.Fatalf("%s has %d large numbers for %d entries", name, len(table.overflow), table.used)
				}
			}
			if most := bytes + 2*unwritten*perBatch*(slotSize(1)+entrySize); held > most {
				t.Fatalf("%d bytes: the tables have %d after %d batches", bytes, held, w)
			}
		}
		for name, table := range c.tables() {
			if table.capacity > 0 && table.used < table.capacity*3/4 {
				t.Errorf("%d bytes: %s has %d entries in %d slots", bytes, name, table.used, table.capacity)
			}
		}
	}
}

// When an index with accounts is added, unspent outputs get a word for its owners, which is unknown; the words of other
// indexes stay. Tables above their new share drop their oldest entries.
func TestCachesAreDividedAgainWhenIndexesChange(t *testing.T) {
	testrun.Slow(t)
	const bytes, entries = 4 << 20, 400_000
	all := accountIndexes(2)
	c := New(bytes, all[1:])
	c.Pin(nothingPinned)
	owner := func(i int) Owner { return NewOwner(model.UtxoPk(i), model.BirthPk{Utxo: model.UtxoPk(i / 2)}) }
	for i := range entries {
		pk := model.UtxoPk(i)
		c.shardOf(outputKey(c, pk)).unspent.put(outputKey(c, pk), uint64(i), uint64(i), []uint64{uint64(owner(i))})
		c.PutBirth(c.Fingerprints.Value(0, pk.AppendTo(nil)), model.BirthPk{Utxo: pk, Ordinal: uint16(i)})
	}
	for n, indexes := range [][]*schema.Index{all, all[1:], all[2:]} {
		c.Divide(indexes)
		if c.Words() != len(indexes)-1 {
			t.Fatalf("division %d: %d words", n, c.Words())
		}
		held, young := int64(0), 0
		for name, table := range c.tables() {
			sound(t, table)
			held += table.bytes()
			if got, most := table.bytes(), int64(table.capacity)*slotSize(table.words); got > most {
				t.Errorf("division %d: %s has %d bytes of %d", n, name, got, most)
			}
		}
		if held > bytes {
			t.Errorf("division %d: %d bytes of %d", n, held, bytes)
		}
		word := c.WordOf(all[1])
		for i := range entries {
			key := outputKey(c, model.UtxoPk(i))
			table := c.shardOf(key).unspent
			at, found := table.find(table.key(key))
			if !found {
				continue
			}
			if word >= 0 && table.at(at)[word] != uint64(owner(i)) {
				t.Fatalf("division %d: the owner of output %d is %d", n, i, table.at(at)[word])
			}
			if other := c.WordOf(all[0]); other >= 0 && table.at(at)[other] != 0 {
				t.Fatalf("division %d: output %d has an owner in the new index", n, i)
			}
			if i > entries*19/20 {
				young++
			}
		}
		if young < entries/20*95/100 {
			t.Errorf("division %d: of the %d youngest outputs %d are left", n, entries/20, young)
		}
	}
}

// At any distance from the birth of its value, an output is distinguished from an output without a value.
func TestOwnersOfAnyDistance(t *testing.T) {
	born := model.BirthPk{Utxo: 5 << 19}
	for _, distance := range []model.UtxoPk{0, 1, 1<<61 - 1, 1 << 61, 1<<61 + 1, 1<<62 - 2, 1<<62 - 1, 1 << 62, 1 << 63} {
		pk := born.Utxo + distance
		if got, some, known := NewOwner(pk, born).Birth(pk); !some || !known || got != born {
			t.Errorf("at a distance of %d: %v, %t", uint64(distance), got, known)
		}
	}
	if _, some, known := OwnerNone.Birth(5); some || !known {
		t.Error("an output without a value has one")
	}
	if _, some, known := Owner(0).Birth(5); some || known {
		t.Error("an unknown owner is known")
	}
}

// The snapshot of filtered births has about the youngest ones, and takes little memory.
func TestSnapshotOfALargeTableTakesLittleMemory(t *testing.T) {
	const entries = 1_000_000
	c := New(64<<20, nil)
	c.births = birthsFiltered
	for i := range model.UtxoPk(entries) {
		key := c.Fingerprints.Value(0, i.AppendTo(nil))
		c.PutBirth(key, model.BirthPk{Utxo: i})
		c.Birth(key) // marks it as referenced
	}
	var before, after runtime.MemStats
	var b bytes.Buffer
	b.Grow(4 << 20)
	runtime.ReadMemStats(&before)
	out := &snapshotWriter{w: &b}
	for i := range c.shards {
		c.shards[i].writeTo(out, entries)
	}
	out.flush()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("a snapshot of %d births took %d bytes of memory", maxSnapshotBirths, took)
	}
	if size := b.Len(); size < maxSnapshotBirths*entrySize*8/10 || size > maxSnapshotBirths*entrySize*12/10 {
		t.Errorf("the snapshot has %d bytes, expected %d", size, maxSnapshotBirths*entrySize)
	}
}

// bytes returns the memory of the slots.
func (t *table) bytes() int64 { return int64(len(t.entries)) * slotSize(t.words) }
