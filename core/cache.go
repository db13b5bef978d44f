package core

import (
	"hash/maphash"
	"math/bits"

	"birthmark/model"
)

// fingerprint stands for a value or an outpoint in memory: 128 bits that depend on seeds drawn when the process
// started, so that nobody can make two values with the same one.
type fingerprint struct{ a, b uint64 }

// fingerprinter makes fingerprints. A space keeps values of different indexes apart.
type fingerprinter struct{ a, b maphash.Seed }

func newFingerprinter() fingerprinter {
	return fingerprinter{maphash.MakeSeed(), maphash.MakeSeed()}
}

// odd constants that spread small numbers over a word (splitmix64)
const (
	spreadA = 0x9e3779b97f4a7c15
	spreadB = 0xbf58476d1ce4e5b9
)

func (f *fingerprinter) value(space int, value []byte) fingerprint {
	s := uint64(space + 1)
	return fingerprint{maphash.Bytes(f.a, value) ^ s*spreadA, maphash.Bytes(f.b, value) ^ s*spreadB}
}

// outpoints hashes a transaction's hash once for all of its outputs: see output.
func (f *fingerprinter) outpoints(hash *model.Hash) fingerprint {
	return fingerprint{maphash.Bytes(f.a, hash[:]), maphash.Bytes(f.b, hash[:])}
}

// output is the fingerprint of outpoint n of the transaction whose outpoints is p.
func (p fingerprint) output(n uint32) fingerprint {
	return fingerprint{p.a ^ uint64(n)*spreadA, p.b + uint64(n)*spreadB}
}

// cache maps fingerprints to a pointer and a number in bounded memory: a table of sets of four entries, the most
// recently used first. The table doubles as it fills, up to its bound, so that a small chain stays small.
type cache struct {
	sets    []cacheSet
	used    int
	maxSets int
}

const entriesPerSet = 4

type cacheSet [entriesPerSet]cacheEntry

// cacheEntry is one place of a set; the zero entry is an empty one.
type cacheEntry struct {
	key fingerprint
	pk  uint64
	num uint64
}

const (
	cacheSetSize = entriesPerSet * 32
	minCacheSets = 1 << 8
)

// newCache makes a cache of at most bytes: the number of sets is a power of two.
func newCache(bytes int64) *cache {
	if bytes < cacheSetSize {
		return &cache{}
	}
	return &cache{maxSets: 1 << (bits.Len64(uint64(bytes/cacheSetSize)) - 1)}
}

func (c *cache) set(key fingerprint) *cacheSet {
	return &c.sets[key.a&uint64(len(c.sets)-1)]
}

// get finds an entry and makes it its set's most recent.
func (c *cache) get(key fingerprint) (pk, num uint64, ok bool) {
	if len(c.sets) == 0 {
		return 0, 0, false
	}
	s := c.set(key)
	for i := range s {
		if s[i].key == key {
			e := s[i]
			copy(s[1:i+1], s[:i])
			s[0] = e
			return e.pk, e.num, true
		}
	}
	return 0, 0, false
}

// take finds an entry and removes it.
func (c *cache) take(key fingerprint) (pk, num uint64, ok bool) {
	if len(c.sets) == 0 {
		return 0, 0, false
	}
	s := c.set(key)
	for i := range s {
		if s[i].key == key {
			pk, num = s[i].pk, s[i].num
			copy(s[i:], s[i+1:])
			s[entriesPerSet-1] = cacheEntry{}
			c.used--
			return pk, num, true
		}
	}
	return 0, 0, false
}

// put adds or replaces an entry; the least recently used one of its set makes room.
func (c *cache) put(key fingerprint, pk, num uint64) {
	if c.maxSets == 0 {
		return
	}
	if c.used >= len(c.sets)*entriesPerSet*3/4 && len(c.sets) < c.maxSets {
		c.grow()
	}
	s := c.set(key)
	i := 0
	for i < entriesPerSet-1 && s[i].key != key {
		i++
	}
	if s[i] == (cacheEntry{}) {
		c.used++
	}
	copy(s[1:i+1], s[:i])
	s[0] = cacheEntry{key, pk, num}
}

func (c *cache) grow() {
	old := c.sets
	c.sets = make([]cacheSet, min(max(len(old)*2, minCacheSets), c.maxSets))
	c.used = 0
	for i := range old {
		for j := entriesPerSet - 1; j >= 0; j-- {
			if e := old[i][j]; e != (cacheEntry{}) {
				s := c.set(e.key)
				if s[entriesPerSet-1] == (cacheEntry{}) {
					c.used++
				}
				copy(s[1:], s[:entriesPerSet-1])
				s[0] = e
			}
		}
	}
}

func (c *cache) clear() { c.sets, c.used = nil, 0 }

// caches are what resolution asks before it reads.
type caches struct {
	fp      fingerprinter
	unspent *cache // outpoint (or value of the index inputs name) -> utxo_pk, value; removed when spent
	births  *cache // value of an index or asset id -> birth
	known   *filter
}

// assetSpace keeps asset ids apart from the values of indexes, whose space is their number.
const assetSpace = -1

func newCaches(bytes int64) *caches {
	filter := bytes / 8
	each := (bytes - filter) / 2
	return &caches{newFingerprinter(), newCache(each), newCache(each), newFilter(filter)}
}

// forget empties the caches: what they say may no longer be in the database. That the filter has values which the
// database does not have harms nothing.
func (c *caches) forget() {
	c.unspent.clear()
	c.births.clear()
}
