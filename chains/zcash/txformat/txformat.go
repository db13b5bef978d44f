// Package txformat reads transactions of Zcash: the shielded parts by the protocol specification, ZIP 225 and ZIP 229, and
// ids by ZIP 244 and ZIP 229. It has the functions of a [block.Format].
package txformat

import (
	"encoding/binary"

	"birthmark/chains/bitcoin/block"
)

// Versions of transactions.
const (
	// VersionMask has the bits of the first field that are the version. The other bit is set from version 3 on.
	VersionMask  = overwintered - 1
	overwintered = 1 << 31

	sprout  = 2 // can have JoinSplits
	sapling = 4
	zip225  = 5 // can have Orchard actions; everything but the outputs has another form
	zip229  = 6 // can also have Ironwood actions; anchors are not part of the id
)

// groups are the version group ids of transactions with the other bit. A version with another group has another form.
var groups = map[uint32]uint32{3: 0x03c48270, sapling: 0x892f2085, zip225: 0x26a7270a, zip229: 0xd884b698}

// Check returns an error if the format of a transaction is unknown. fields are the fields of Prefix.
func Check(r *block.Reader, first uint32, fields []byte) {
	version := first &^ overwintered
	if first&overwintered == 0 {
		return
	}
	group := binary.LittleEndian.Uint32(fields)
	switch want, known := groups[version]; {
	case !known:
		r.Newer("a transaction of version %d", version)
	case group != want:
		r.Newer("a transaction of version %d with the version group %08x", version, group)
	}
}

// Prefix returns the size of the fields after the first one: a group of versions and, in version 5, a branch, the lock
// time and the expiry. See [block.Format].
func Prefix(first uint32) (size, lock int) {
	switch {
	case first&overwintered == 0:
		return 0, 0
	case first&^overwintered < zip225:
		return 4, 0
	}
	return 16, 12
}

// Payload skips the shielded parts of a transaction.
func Payload(r *block.Reader, first uint32) {
	version := first &^ overwintered
	switch {
	case first&overwintered == 0:
	case version >= zip225:
		takeBundles(r, version)
		return
	default:
		r.Take(4, "expiry height")
	}
	joinSplit, shielded := 1802, 0
	if version >= sapling && first&overwintered != 0 {
		joinSplit = 1698 // its proof is shorter
		r.Take(8, "value balance")
		for _, size := range []int{384, 948} { // spends, outputs
			n := r.Count(size, "Sapling descriptions")
			r.Take(n*size, "Sapling descriptions")
			shielded += n
		}
	}
	if version >= sprout {
		if n := r.Count(joinSplit, "JoinSplits"); n > 0 {
			r.Take(n*joinSplit+32+64, "JoinSplits, their key and signature")
		}
	}
	if shielded > 0 {
		r.Take(64, "binding signature")
	}
}

// Sizes of the shielded parts from version 5 on.
const (
	spendSize  = 96
	outputSize = 756
	actionSize = 820
	proofSize  = 192 // of a spend or an output
)

// bundles are the bytes of the shielded parts that the id covers from version 5 on. Balance and anchor are empty without
// items.
type bundles struct {
	spends, outputs, balance, anchor []byte // Sapling
	orchard, ironwood                actions
}

// actions are the bytes of a bundle of the Orchard protocol that ids cover. Without actions, the others are empty.
type actions struct{ all, balance, anchor []byte } // balance: flags and value balance

func takeBundles(r *block.Reader, version uint32) (b bundles) {
	spends, items := take(r, spendSize, "Sapling spends")
	b.spends = items
	outputs, items := take(r, outputSize, "Sapling outputs")
	b.outputs = items
	if spends+outputs > 0 {
		b.balance = r.Take(8, "value balance")
		if spends > 0 {
			b.anchor = r.Take(32, "anchor")
		}
		r.Take(spends*(proofSize+64)+outputs*proofSize+64, "Sapling proofs and signatures")
	}
	b.orchard = takeActions(r, "Orchard")
	if version >= zip229 {
		b.ironwood = takeActions(r, "Ironwood")
	}
	return b
}

func takeActions(r *block.Reader, pool string) (a actions) {
	n, items := take(r, actionSize, pool+" actions")
	if n == 0 {
		return a
	}
	a = actions{items, r.Take(1+8, "flags and value balance"), r.Take(32, "anchor")}
	r.Take(r.Count(1, "bytes of proofs"), pool+" proofs")
	r.Take((n+1)*64, pool+" signatures")
	return a
}

// take reads the count of items of a size, and them.
func take(r *block.Reader, size int, what string) (n int, items []byte) {
	n = r.Count(size, what)
	return n, r.Take(n*size, what)
}

// Inputless reports whether a transaction can have no inputs, and no outputs: value then comes from a pool.
func Inputless(first uint32) bool { return first&VersionMask > 1 }
