package core

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/dchest/siphash"

	"birthmark/model"
)

// fingerprint stands for a value or an outpoint in memory: 128 bits that depend on a secret, so that nobody can make two
// values with the same one.
type fingerprint struct{ a, b uint64 }

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
	spreadA = 0x9e3779b97f4a7c15
	spreadB = 0xbf58476d1ce4e5b9
)

func (f *fingerprinter) value(space int, value []byte) fingerprint {
	a, b := siphash.Hash128(f.k0, f.k1, value)
	s := uint64(space + 1)
	return fingerprint{a ^ s*spreadA, b ^ s*spreadB}
}

// outpoints hashes a transaction's hash once for all of its outputs: see output.
func (f *fingerprinter) outpoints(hash *model.Hash) fingerprint {
	a, b := siphash.Hash128(f.k0, f.k1, hash[:])
	return fingerprint{a, b}
}

// output is the fingerprint of outpoint n of the transaction whose outpoints is p. Four at a time are neighbours in a
// table.
func (p fingerprint) output(n uint32) fingerprint {
	return fingerprint{(p.a^uint64(n>>2)*spreadA)&^3 | uint64(n&3), p.b + uint64(n)*spreadB}
}

// assetSpace keeps asset ids apart from the values of indexes, whose space is their number.
const assetSpace = -1

// caches are what resolution asks before it reads. What windows that are not written yet have made and not spent is in
// them for certain, all else as far as there is room.
type caches struct {
	fp      fingerprinter
	unspent *table // outpoint (or value of the index inputs name) -> utxo_pk, value; removed when spent
	births  *table // value of an index or asset id -> birth
	known   *filter
	owners  map[int]*table // by number of an index that keeps accounts: utxo_pk -> how far from it its value was born
	warm    bool           // they know what they would know had this process written all of the database
	hits    cacheHits

	bytes int64
	noted model.Point // the block of the note they were read from or written to
}

const (
	valueBits   = 52 // an output's value, but for very large ones
	ordinalBits = 17 // of a birth: all of its 16 bits fit
	ownerBits   = 62 // of the distance of two pointers in one chain
)

// newCaches divides bytes: a quarter for the owners of outputs, where indexes keep accounts, of the rest an eighth for the
// filter, and of what then is left a third for what is unspent. A value of a busy chain is used three times as often as an
// output is kept.
func newCaches(bytes int64, indexes []*index) *caches {
	var keep []*index
	for _, x := range indexes {
		if x.owned() {
			keep = append(keep, x)
		}
	}
	all, owners := bytes, map[int]*table{}
	for _, x := range keep {
		owners[x.number] = newTable(bytes/4/int64(len(keep)), ownerBits)
	}
	if len(keep) > 0 {
		bytes -= bytes / 4
	}
	known := bytes / 8
	unspent := (bytes - known) / 3
	return &caches{
		fp: newFingerprinter(), known: newFilter(known), owners: owners, bytes: all,
		unspent: newTable(unspent, valueBits), births: newTable(bytes-known-unspent, ordinalBits),
	}
}

// pin says where the oldest window begins that is not written yet.
func (c *caches) pin(first model.UtxoPk) { c.unspent.pinned, c.births.pinned = first, first }

// owned reports whether it is worth while to remember which value of the index an output has.
func (x *index) owned() bool { return x.live&partAccounts != 0 && !x.Kind.Wide() }

// remember begins to remember owners for an index that keeps accounts from now on. What it takes comes on top, until the
// database is opened again.
func (c *caches) remember(x *index) {
	if x.owned() && c.owners[x.number] == nil {
		c.owners[x.number] = newTable(c.bytes/16, ownerBits)
	}
}

// notOwned is the distance of an output without a value.
const notOwned = 1 << 61

// ofOutput is the fingerprint of a pointer: no two have the same.
func ofOutput(pk model.UtxoPk) fingerprint { return fingerprint{a: uint64(pk) * spreadA} }

// own remembers the value of an output, or that it has none.
func (c *caches) own(x *index, pk model.UtxoPk, birth *model.BirthPk) {
	t := c.owners[x.number]
	switch {
	case t == nil:
	case birth == nil:
		t.put(ofOutput(pk), uint64(pk), notOwned)
	default:
		t.put(ofOutput(pk), uint64(pk), uint64(pk-birth.Utxo))
	}
}

// disown is the birth of an output's value, the output being spent; not ok where that is not known here, nil where it has none.
func (c *caches) disown(x *index, pk model.UtxoPk) (birth *model.BirthPk, ok bool) {
	t := c.owners[x.number]
	if t == nil {
		return nil, false
	}
	_, distance, ok := t.take(ofOutput(pk))
	if !ok || distance == notOwned {
		return nil, ok
	}
	return &model.BirthPk{Utxo: pk - model.UtxoPk(distance)}, true
}

// birth is where a value was born, as far as that is known here.
func (c *caches) birth(key fingerprint) (model.BirthPk, bool) {
	pk, ordinal, ok := c.births.get(key)
	return model.BirthPk{Utxo: model.UtxoPk(pk), Ordinal: uint16(ordinal)}, ok
}

func (c *caches) learn(key fingerprint, birth model.BirthPk) {
	c.births.put(key, uint64(birth.Utxo), uint64(birth.Ordinal))
}

// clear forgets everything.
func (c *caches) clear() {
	c.unspent.clear()
	c.births.clear()
	c.known.giveUp()
	for _, t := range c.owners {
		t.clear()
	}
}

// forgetFrom drops what stands at first or behind it, which is not there any more. That the filter has values which the
// database does not have harms nothing, nor that an output is missing which is unspent again.
func (c *caches) forgetFrom(first model.UtxoPk) {
	c.unspent.forgetFrom(first)
	c.births.forgetFrom(first)
	for _, t := range c.owners {
		t.forgetFrom(first)
	}
}
