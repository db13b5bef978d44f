package cache

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"

	"github.com/dchest/siphash"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Fingerprint stands for a value or an outpoint in memory: 128 bits that depend on a secret, so that nobody can make two
// values with the same one.
type Fingerprint struct{ a, b uint64 }

// fingerprinter makes fingerprints: SipHash-2-4 of 128 bits under a key of its own. A space keeps values of different
// indexes apart.
type fingerprinter struct{ k0, k1 uint64 }

func newFingerprinter() fingerprinter {
	var b [16]byte
	rand.Read(b[:])
	return fingerprinter{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// odd constants that spread small numbers over a word (splitmix64)
const (
	SpreadA = 0x9e3779b97f4a7c15
	SpreadB = 0xbf58476d1ce4e5b9
)

func (f *fingerprinter) Value(space int, value []byte) Fingerprint {
	a, b := siphash.Hash128(f.k0, f.k1, value)
	s := uint64(space + 1)
	return Fingerprint{a ^ s*SpreadA, b ^ s*SpreadB}
}

// Outpoints hashes a transaction's hash once for all of its outputs: see output.
func (f *fingerprinter) Outpoints(hash *model.Hash) Fingerprint {
	a, b := siphash.Hash128(f.k0, f.k1, hash[:])
	return Fingerprint{a, b}
}

// Output is the fingerprint of outpoint n of the transaction whose outpoints is p. Four at a time are neighbours in a
// table.
func (p Fingerprint) Output(n uint32) Fingerprint {
	return Fingerprint{(p.a^uint64(n>>2)*SpreadA)&^3 | uint64(n&3), p.b + uint64(n)*SpreadB}
}

// Caches are what resolution asks before it reads. What windows that are not written yet have made and not spent is in
// them for certain, all else as far as there is room. They are used with DB.write held.
type Caches struct {
	Fingerprints fingerprinter
	Unspent      *Table // outpoint (or value of the index inputs name) -> utxo_pk, value; removed when spent
	Births       *Table // value of an index or asset id -> birth
	Known        *Bloom
	owners       map[int]*Table // by number of an index that keeps accounts: utxo_pk -> how far from it its value was born
	warmed       bool           // they know what they would know had this process written all of the database
	Counters     Counters

	budget     int64       // bound of all tables and the filter together; pinned entries may exceed it
	snapshotAt model.Point // the block of the note they were read from or written to
	OnSweep    func()      // called before a whole table is read to remove entries; for tests
}

const (
	valueBits   = 52 // an output's value, but for very large ones
	ordinalBits = 17 // of a birth: all of its 16 bits fit
	ownerBits   = 62 // of the distance of two pointers in one chain and 1
)

func New(bytes int64, indexes []*schema.Index) *Caches {
	c := &Caches{Fingerprints: newFingerprinter(), Known: newBloom(bytes / 8), budget: bytes}
	c.Divide(indexes)
	return c
}

// Divide gives each cache its share of bytes: an eighth to the filter; a quarter to the owners of outputs, if there are
// indexes that keep accounts, in equal parts; of the rest a third to unspent outputs and two thirds to births. A value of a
// busy chain is used three times as often as an output is kept. When the indexes change, tables that have more than their new
// share drop their oldest entries.
func (c *Caches) Divide(indexes []*schema.Index) {
	owners := map[int]*Table{}
	changed := c.owners == nil
	for _, x := range indexes {
		if HasOwners(x) {
			owners[x.Number] = c.owners[x.Number]
			changed = changed || owners[x.Number] == nil
		}
	}
	if !changed && len(owners) == len(c.owners) {
		return
	}
	for number, t := range c.owners {
		if owners[number] == nil {
			t.clear()
		}
	}
	c.owners = owners
	rest := c.budget - c.Known.maxBytes
	if len(owners) > 0 {
		rest -= c.budget / 4
	}
	c.Unspent = c.Unspent.limited(rest/3, valueBits)
	c.Births = c.Births.limited(rest-rest/3, ordinalBits)
	for number, t := range owners {
		owners[number] = t.limited(c.budget/4/int64(len(owners)), ownerBits)
		owners[number].pinFloor = nothingPinned
	}
}

// Pin keeps the entries of windows that are not written yet; first is where the oldest of them begins. Owners are not pinned:
// the windows themselves have the owners of their outputs.
func (c *Caches) Pin(first model.UtxoPk) { c.Unspent.pinFloor, c.Births.pinFloor = first, first }

// HasOwners reports whether it is worth while to remember which value of the index an output has.
func HasOwners(x *schema.Index) bool {
	return x.Active&schema.AccountFeatures != 0 && !x.Kind.HasOrdinal()
}

// outputFingerprint is the fingerprint of a pointer: no two have the same.
func outputFingerprint(pk model.UtxoPk) Fingerprint { return Fingerprint{a: uint64(pk) * SpreadA} }

// PutOwner stores the birth of an output's value, or that the output has none, which is nil. The number of the entry is the
// distance from the birth to the output plus one; 0 means no value.
func (c *Caches) PutOwner(x *schema.Index, pk model.UtxoPk, birth *model.BirthPk) {
	t := c.owners[x.Number]
	switch {
	case t == nil:
	case birth == nil:
		t.Put(outputFingerprint(pk), uint64(pk), 0)
	default:
		t.Put(outputFingerprint(pk), uint64(pk), uint64(pk-birth.Utxo)+1)
	}
}

// TakeOwner removes what own stored of an output that is spent, and returns it. It is not ok if there is no entry.
func (c *Caches) TakeOwner(x *schema.Index, pk model.UtxoPk) (birth *model.BirthPk, ok bool) {
	t := c.owners[x.Number]
	if t == nil {
		return nil, false
	}
	_, number, ok := t.Take(outputFingerprint(pk))
	if !ok || number == 0 {
		return nil, ok
	}
	return &model.BirthPk{Utxo: pk - model.UtxoPk(number-1)}, true
}

// Birth is where a value was born, as far as that is known here.
func (c *Caches) Birth(key Fingerprint) (model.BirthPk, bool) {
	pk, ordinal, ok := c.Births.get(key)
	return model.BirthPk{Utxo: model.UtxoPk(pk), Ordinal: uint16(ordinal)}, ok
}

func (c *Caches) PutBirth(key Fingerprint, birth model.BirthPk) {
	c.Births.Put(key, uint64(birth.Utxo), uint64(birth.Ordinal))
}

// clear forgets everything.
func (c *Caches) clear() {
	c.Unspent.clear()
	c.Births.clear()
	c.Known.disable()
	for _, t := range c.owners {
		t.clear()
	}
}

// The filter may have values that the database does not have, and an output that is unspent again may be missing: both only
// cost a lookup. So a rollback removes what points to the rows it removes, and nothing else. If it then fails, what it
// removed is looked up.

// DropOutput removes the entries of an output whose row is removed. key is that of the table of unspent outputs.
func (c *Caches) DropOutput(key Fingerprint, pk model.UtxoPk) {
	c.Unspent.Drop(key, pk)
	for _, t := range c.owners {
		t.Drop(outputFingerprint(pk), pk)
	}
}

// DropBirth removes the birth of a value whose row is removed.
func (c *Caches) DropBirth(space int, value []byte, birth model.BirthPk) {
	c.Births.Drop(c.Fingerprints.Value(space, value), birth.Utxo)
}

// DropFrom removes all entries that point to first or to a later pointer. It reads every table from end to end, so it is
// called only after a failure, when it is unknown which rows are gone.
func (c *Caches) DropFrom(first model.UtxoPk) {
	if c.OnSweep != nil {
		c.OnSweep()
	}
	c.Unspent.dropFrom(first)
	c.Births.dropFrom(first)
	for _, t := range c.owners {
		t.dropFrom(first)
	}
}

// Counter counts what a cache was asked. Windows add to it, not each question.
type Counter struct{ lookups, hits atomic.Uint64 }

func (h *Counter) Add(asked, found int) {
	h.lookups.Add(uint64(asked))
	h.hits.Add(uint64(found))
}

// Counters are those of all caches.
type Counters struct {
	Outputs Counter // what an input spends
	Values  Counter // where a value or an asset was born
	Filter  Counter // of those that are not among values: found is that it is new
	Owners  Counter // whose a spent output was, where indexes keep accounts
}

// Contents is what the caches are filled from: a store and its state, which do not change meanwhile.
type Contents struct {
	Store  storage.Store
	Layout *schema.Layout
	Tip    model.Point
	Totals schema.Totals
}

// StartEmpty marks the caches as complete: the database has no rows that they do not know.
func (c *Caches) StartEmpty() { c.warmed, c.Known.complete = true, true }

// Stats counts the lookups of one cache.
type Stats struct {
	Name          string // outputs, values, filter, owners
	Lookups, Hits uint64
}

// Stats are the lookups of each cache since the database was opened.
func (c *Caches) Stats() (all []Stats) {
	h := &c.Counters
	for _, of := range []struct {
		name string
		*Counter
	}{{"outputs", &h.Outputs}, {"values", &h.Values}, {"filter", &h.Filter}, {"owners", &h.Owners}} {
		found := of.hits.Load() // before asked, which is never less
		all = append(all, Stats{of.name, of.lookups.Load(), found})
	}
	return all
}
