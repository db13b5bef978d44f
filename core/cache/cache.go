package cache

import (
	"crypto/rand"
	"encoding/binary"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/dchest/siphash"

	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
	"birthmark/storage"
)

// Fingerprint identifies a value or an outpoint in memory: 128 bits that depend on a secret key, so that nobody can
// construct a collision.
type Fingerprint struct{ a, b uint64 }

// fingerprinter computes fingerprints: SipHash-2-4 with 128 bits and a key. A space separates values of different
// indexes. Go's maphash has seeds that cannot be saved, so a snapshot could not keep the tables. The key is in the
// snapshot, which therefore needs the same protection as the database.
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

// Caches answer lookups of the resolver: see the package comment. Callers hold DB.write, whose lock order is at the type
// locks of package core. In a sync, the stage that resolves batches uses them, and a rollback while that stage waits.
type Caches struct {
	Fingerprints fingerprinter
	Counters     Counters
	AssetTxs     AssetTxs // only on chains with derived assets, as the next
	Tokens       Tokens
	OnSweep      func() // called before all tables are scanned to remove entries; for tests

	shards []shard
	births births
	owners []*schema.Index // indexes whose values the entries of unspent outputs contain, in the order of their words
	warmed bool            // Warm or StartEmpty has succeeded

	budget     int64        // bound of the memory of all shards; pinned entries may exceed it
	snapshotAt model.Point  // block of the snapshot that was last read or written
	pinned     model.UtxoPk // entries at or after it belong to batches that are not committed
	runs       runs
	lookups    Lookups
}

// births is the state of the births: it decides how a miss in a table of births is handled.
type births int

const (
	// birthsUnknown: a miss must be looked up in the database.
	birthsUnknown births = iota
	// birthsFiltered: a value that the filter lacks is new; others must be looked up.
	birthsFiltered
	// birthsComplete: tables and overflow runs have the births of all values; a value that both lack is new.
	birthsComplete
)

const (
	// Births per unspent output for which tables have room. Busy chains have several values per unspent output. After a
	// first sync an output is found in a run, but a birth in the database, which takes ten times as long.
	birthsPerOutput      = 2
	birthsPerOutputAtTip = 8

	valueBits   = 52 // of an output's value; larger values overflow
	ordinalBits = 17 // of the ordinal of a birth
)

// New returns empty caches of at most the given memory.
func New(bytes int64, indexes []*schema.Index) *Caches {
	c := &Caches{Fingerprints: newFingerprinter(), budget: bytes}
	rotation := shardBits(bytes)
	c.shards = make([]shard, 1<<rotation)
	for i := range c.shards {
		c.shards[i] = shard{
			c: c, number: i, unspent: newTable(valueBits, rotation), births: newTable(ordinalBits, rotation),
		}
	}
	c.AssetTxs.limit = max(minAssetTxWords, int(bytes/assetTxShare/8))
	c.Tokens.limit = heldLimit(bytes)
	c.owners = withOwners(indexes)
	for i := range c.shards {
		c.shards[i].unspent.words = len(c.owners)
	}
	c.divide()
	return c
}

// shardBits returns the number of bits that select a shard. Small shards lose locality: 64 shards have at least 2 MiB
// each, 16 at least 1 MiB. Two shards of any size occupy two processors.
func shardBits(bytes int64) int {
	switch {
	case bytes >= 128<<20:
		return 6
	case bytes >= 16<<20:
		return 4
	case bytes >= 64<<10:
		return 1
	}
	return 0
}

// withOwners returns the indexes whose values are stored with unspent outputs: indexes with accounts, except
// many-valued ones.
func withOwners(indexes []*schema.Index) (owners []*schema.Index) {
	for _, x := range indexes {
		if x.Active&schema.SpendFeatures != 0 && !x.Kind.HasOrdinal() {
			owners = append(owners, x)
		}
	}
	return owners
}

// Divide adapts the caches to a change of the indexes. Existing entries do not have the owners in an index that got
// accounts.
func (c *Caches) Divide(indexes []*schema.Index) {
	owners := withOwners(indexes)
	same := func(a, b *schema.Index) bool { return a.Number == b.Number }
	if slices.EqualFunc(owners, c.owners, same) {
		return
	}
	c.leaveBirthRuns()
	for i := range c.shards {
		c.shards[i].removeOutputRuns() // their entries have other words
	}
	from := make([]int, len(owners))
	for i, x := range owners {
		from[i] = slices.IndexFunc(c.owners, func(y *schema.Index) bool { return same(x, y) })
	}
	c.owners = owners
	for i := range c.shards {
		c.shards[i].unspent.setWords(from)
	}
	c.divide()
}

// divide sets the bounds of tables and filters in bytes. If the births are filtered, the filter of values takes at most
// a half, in steps of a sixteenth. Filters and page indexes of overflow runs take at most half of the rest. The tables
// have the remainder. Tables above a new bound drop their oldest entries that are not pinned.
func (c *Caches) divide() { c.each((*shard).divide) }

func (s *shard) divide() {
	c := s.c
	per := c.budget / int64(len(c.shards))
	step := max(1, per/16)
	share := func(bytes, of int64) int64 { return min((bytes+step-1)/step*step, of/2) }
	s.filter.maxBytes, s.filterShare = 0, 0
	if c.births == birthsFiltered {
		s.filter.maxBytes, s.filterShare = c.filterBytes(), share(s.filter.bytes, per)
	}
	rest := per - s.filterShare
	s.mapFilters(rest / 2)
	rest -= share(s.runMemory()+s.mapped(), rest)
	size := slotSize(len(c.owners))
	births := int64(birthsPerOutput)
	if c.births != birthsComplete && c.runs.folder != "" {
		births = birthsPerOutputAtTip
	}
	unspent := rest * size / (size + births*entrySize)
	s.unspent.limit(unspent)
	s.births.limit(rest - unspent)
}

// filterBytes returns the bound of the filter of a shard.
func (c *Caches) filterBytes() int64 { return c.budget / int64(len(c.shards)) / 2 }

// Pin protects the entries of unwritten batches; first is the beginning of the oldest one.
func (c *Caches) Pin(first model.UtxoPk) {
	c.pinned = first
	for i := range c.shards {
		c.shards[i].pin()
	}
}

// Words returns the number of words that the entry of an unspent output has.
func (c *Caches) Words() int { return len(c.owners) }

// WordOf returns the number of the word that has the owner in an index, or -1.
func (c *Caches) WordOf(x *schema.Index) int {
	return slices.IndexFunc(c.owners, func(y *schema.Index) bool { return x.Number == y.Number })
}

// Owner is the value of an output in an index with accounts, as the word of an entry: 0 if it is unknown, 1 if the
// output has no value, and otherwise 2 more than the distance from the birth of the value to the output.
type Owner uint64

// OwnerNone is the owner of an output without a value.
const OwnerNone Owner = 1

// NewOwner returns the owner of the output at pk whose value has the given birth.
func NewOwner(pk model.UtxoPk, birth model.BirthPk) Owner { return Owner(pk-birth.Utxo) + 2 }

// Birth returns the birth of the owner of the output at pk. some is false if the output has no value; known is false if
// the entry does not have it.
func (o Owner) Birth(pk model.UtxoPk) (birth model.BirthPk, some, known bool) {
	if o < 2 {
		return model.BirthPk{}, false, o == OwnerNone
	}
	return model.BirthPk{Utxo: pk - model.UtxoPk(o-2)}, true, true
}

// shardOf returns the shard of a fingerprint.
func (c *Caches) shardOf(f Fingerprint) *shard { return &c.shards[c.shardNumber(f)] }

func (c *Caches) shardNumber(f Fingerprint) uint64 {
	return f.a >> (64 - c.shards[0].births.rotation)
}

// each calls fn for every shard, on all processors.
func (c *Caches) each(fn func(s *shard)) {
	Parallel(len(c.shards), func(i int) { fn(&c.shards[i]) })
}

// Parallel calls fn for 0 to n-1 on all processors.
func Parallel(n int, fn func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			fn(i)
		}
	}
	var waits []func()
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		waits = append(waits, guard.Beside(work))
	}
	work()
	for _, wait := range waits {
		wait()
	}
}

// Birth returns the birth of a value if a table has it.
func (c *Caches) Birth(key Fingerprint) (model.BirthPk, bool) {
	pk, ordinal, ok := c.shardOf(key).births.get(key)
	return model.BirthPk{Utxo: model.UtxoPk(pk), Ordinal: uint16(ordinal)}, ok
}

// PutBirth stores the birth of a value of the database, or the first occurrence of a new one.
func (c *Caches) PutBirth(key Fingerprint, birth model.BirthPk) { c.shardOf(key).putBirth(key, birth) }

// clear removes everything.
func (c *Caches) clear() {
	for i := range c.shards {
		c.shards[i].unspent.clear()
		c.shards[i].births.clear()
	}
	c.removeRuns()
	c.lookUpBirths()
}

// The filter may have values that the database lacks, and an output that is unspent again may be missing: both only
// cost a lookup. So a rollback removes the entries of the rows that it removes, and nothing else.

// DropOutput removes the entry of an output whose row is removed.
func (c *Caches) DropOutput(key Fingerprint, pk model.UtxoPk) { c.shardOf(key).unspent.drop(key, pk) }

// DropBirth removes the birth of a value whose row is removed.
func (c *Caches) DropBirth(space int, value []byte, birth model.BirthPk) {
	key := c.Fingerprints.Value(space, value)
	c.shardOf(key).births.drop(key, birth.Utxo)
}

// BeginRollback ignores the entries of overflow runs at first or later: a rollback removes their rows. EndRollback must
// be called when the rollback has succeeded or failed.
func (c *Caches) BeginRollback(first model.UtxoPk) {
	c.AssetTxs.DropFrom(first.Height())
	c.Tokens.Clear()
	for i := range c.shards {
		c.shards[i].truncate(first)
	}
}

// EndRollback ends what BeginRollback began. If the rollback failed, births of existing rows may be missing, so misses
// are looked up from then on.
func (c *Caches) EndRollback(err error) {
	if err != nil && c.births == birthsComplete {
		c.lookUpBirths()
	}
}

// DropFrom removes all entries that point to first or later. It scans every table, which takes seconds if the caches
// have some GiB, so it is called only after a failure, when it is unknown which rows are gone.
func (c *Caches) DropFrom(first model.UtxoPk) {
	if c.OnSweep != nil {
		c.OnSweep()
	}
	c.BeginRollback(first)
	c.each(func(s *shard) {
		s.unspent.dropFrom(first)
		s.births.dropFrom(first)
	})
}

// StartEmpty marks the caches as complete: the database has no rows that they lack.
func (c *Caches) StartEmpty() { c.warmed, c.births = true, birthsComplete }

// Counter counts the lookups and hits of a cache. Batches add to it, not each lookup.
type Counter struct{ lookups, hits atomic.Uint64 }

// Add adds the lookups and hits of a batch.
func (c *Counter) Add(lookups, hits int) {
	c.lookups.Add(uint64(lookups))
	c.hits.Add(uint64(hits))
}

// Counters are the counters of all caches.
type Counters struct {
	Outputs Counter // previous outputs of inputs
	Values  Counter // births of values and assets in the tables
	Filter  Counter // values that missed the tables; a hit is a value that is new without a lookup in the database
	Owners  Counter // owners of spent outputs, if indexes keep accounts
	Runs    Counter // values and inputs that missed the tables and were searched in overflow runs
}

// Contents is the source of the caches' content: a store and its state, which must not change during the call.
type Contents struct {
	Store  storage.Store
	Layout *schema.Layout
	Tip    model.Point
	Totals schema.Totals
}

// Stats counts the lookups of one cache.
type Stats struct {
	Name          string // outputs, values, filter, owners, runs
	Lookups, Hits uint64
}

// Stats returns the lookups of each cache since the database was opened.
func (c *Caches) Stats() (all []Stats) {
	h := &c.Counters
	for _, of := range []struct {
		name string
		*Counter
	}{{"outputs", &h.Outputs}, {"values", &h.Values}, {"filter", &h.Filter}, {"owners", &h.Owners}, {"runs", &h.Runs}} {
		hits := of.hits.Load() // before lookups, so that hits never exceed them
		all = append(all, Stats{of.name, of.lookups.Load(), hits})
	}
	return all
}
