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

// Fingerprint identifies a value or an outpoint in memory: 128 bits that depend on a secret key, so that nobody can
// construct a collision.
type Fingerprint struct{ a, b uint64 }

// fingerprinter computes fingerprints: SipHash-2-4 with 128 bits and a key. A space separates values of different
// indexes.
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

// Outpoints hashes a transaction's hash once for all of its outputs: see Output.
func (f *fingerprinter) Outpoints(hash *model.Hash) Fingerprint {
	a, b := siphash.Hash128(f.k0, f.k1, hash[:])
	return Fingerprint{a, b}
}

// Output returns the fingerprint of outpoint n of the transaction with outpoints p. Four at a time are adjacent in a
// table.
func (p Fingerprint) Output(n uint32) Fingerprint {
	return Fingerprint{(p.a^uint64(n>>2)*SpreadA)&^3 | uint64(n&3), p.b + uint64(n)*SpreadB}
}

// Caches answer lookups of the resolver. Outputs and births of batches that are not written yet are always present,
// others if there is room. Callers hold DB.write.
type Caches struct {
	Fingerprints fingerprinter
	Unspent      *Table // outpoint (or value of the index by which inputs name outputs) -> utxo_pk, value; removed when spent
	Births       *Table // value of an index or asset id -> birth
	Known        *Bloom
	owners       map[int]*Table // by number of an index with accounts: utxo_pk -> distance to the birth of its value
	warmed       bool           // complete, as if this process had written the whole database
	Counters     Counters

	budget     int64       // bound of all tables and the filter together; pinned entries may exceed it
	snapshotAt model.Point // block of the snapshot that was last read or written
	OnSweep    func()      // called before a table is scanned to remove entries; for tests
}

const (
	valueBits   = 52 // of an output's value; larger values overflow
	ordinalBits = 17 // of the ordinal of a birth
	ownerBits   = 62 // of the distance of two pointers in one chain plus 1
)

func New(bytes int64, indexes []*schema.Index) *Caches {
	c := &Caches{Fingerprints: newFingerprinter(), Known: newBloom(bytes / 8), budget: bytes}
	c.Divide(indexes)
	return c
}

// Divide sets the share of each cache in bytes: an eighth for the filter; a quarter for owners in equal parts, if there
// are indexes with accounts; of the rest a third for unspent outputs and two thirds for births. On a busy chain a value
// is used three times as often as an output is kept. When the indexes change, tables above their new share drop their
// oldest entries.
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

// Pin protects the entries of unwritten batches; first is the beginning of the oldest one. Owners are not pinned: the
// batches themselves have the owners of their outputs.
func (c *Caches) Pin(first model.UtxoPk) { c.Unspent.pinFloor, c.Births.pinFloor = first, first }

// HasOwners reports whether the owners of an index are cached.
func HasOwners(x *schema.Index) bool {
	return x.Active&schema.AccountFeatures != 0 && !x.Kind.HasOrdinal()
}

// outputFingerprint returns the fingerprint of a pointer, which is unique.
func outputFingerprint(pk model.UtxoPk) Fingerprint { return Fingerprint{a: uint64(pk) * SpreadA} }

// PutOwner stores the birth of an output's value, or nil if the output has none. The number of the entry is the
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

// TakeOwner removes and returns the owner of a spent output; ok is false on a cache miss.
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

// Birth returns the birth of a value if it is cached.
func (c *Caches) Birth(key Fingerprint) (model.BirthPk, bool) {
	pk, ordinal, ok := c.Births.get(key)
	return model.BirthPk{Utxo: model.UtxoPk(pk), Ordinal: uint16(ordinal)}, ok
}

func (c *Caches) PutBirth(key Fingerprint, birth model.BirthPk) {
	c.Births.Put(key, uint64(birth.Utxo), uint64(birth.Ordinal))
}

// clear removes everything.
func (c *Caches) clear() {
	c.Unspent.clear()
	c.Births.clear()
	c.Known.disable()
	for _, t := range c.owners {
		t.clear()
	}
}

// The filter may have values that the database lacks, and an output that is unspent again may be missing: both only
// cost a lookup. A rollback therefore removes the entries of the rows that it removes, and nothing else. If it fails,
// removed entries are looked up.

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

// DropFrom removes all entries that point to first or later. It scans every table, so it is called only after a
// failure, when it is unknown which rows are gone.
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

// Counter counts the lookups and hits of a cache. Batches add to it, not each lookup.
type Counter struct{ lookups, hits atomic.Uint64 }

func (h *Counter) Add(asked, found int) {
	h.lookups.Add(uint64(asked))
	h.hits.Add(uint64(found))
}

// Counters are the counters of all caches.
type Counters struct {
	Outputs Counter // previous outputs of inputs
	Values  Counter // births of values and assets
	Filter  Counter // lookups that missed the births; a hit means that the value is new
	Owners  Counter // owners of spent outputs, if indexes keep accounts
}

// Contents is the source of the caches' content: a store and its state, which must not change during the call.
type Contents struct {
	Store  storage.Store
	Layout *schema.Layout
	Tip    model.Point
	Totals schema.Totals
}

// StartEmpty marks the caches as complete: the database has no rows that they lack.
func (c *Caches) StartEmpty() { c.warmed, c.Known.complete = true, true }

// Stats counts the lookups of one cache.
type Stats struct {
	Name          string // outputs, values, filter, owners
	Lookups, Hits uint64
}

// Stats returns the lookups of each cache since the database was opened.
func (c *Caches) Stats() (all []Stats) {
	h := &c.Counters
	for _, of := range []struct {
		name string
		*Counter
	}{{"outputs", &h.Outputs}, {"values", &h.Values}, {"filter", &h.Filter}, {"owners", &h.Owners}} {
		found := of.hits.Load() // before lookups, so that hits never exceed them
		all = append(all, Stats{of.name, of.lookups.Load(), found})
	}
	return all
}
