// Package txformat reads transactions of Zcash: the shielded parts by the protocol specification and ZIP 225, and ids by
// ZIP 244. It has the functions of a [block.Format].
package txformat

import "birthmark/chains/bitcoin/block"

// Versions of transactions.
const (
	// VersionMask has the bits of the first field that are the version. The other bit is set from version 3 on.
	VersionMask  = overwintered - 1
	overwintered = 1 << 31

	sprout  = 2 // can have JoinSplits
	sapling = 4
	zip225  = 5 // can have Orchard actions; everything but the outputs has another form
)

// Prefix returns what follows the first field: a group of versions and, in version 5, a branch, the lock time and the
// expiry. See [block.Format].
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
	case version > zip225:
		r.Fail("a transaction of version %d: expected at most %d", version, zip225)
	case version == zip225:
		takeBundles(r)
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

// Sizes of the shielded parts in version 5.
const (
	spendSize  = 96
	outputSize = 756
	actionSize = 820
	proofSize  = 192 // of a spend or an output
)

// bundles are the bytes of the shielded parts that the id covers in version 5. Balance and anchor, and flags in Orchard,
// are empty without items.
type bundles struct {
	spends, outputs, balance, anchor []byte // Sapling
	actions, rest                    []byte // Orchard: the rest is flags, balance and anchor
}

func takeBundles(r *block.Reader) (b bundles) {
	take := func(size int, what string) (n int, items []byte) {
		n = r.Count(size, what)
		return n, r.Take(n*size, what)
	}
	var spends, outputs, actions int
	spends, b.spends = take(spendSize, "Sapling spends")
	outputs, b.outputs = take(outputSize, "Sapling outputs")
	if spends+outputs > 0 {
		b.balance = r.Take(8, "value balance")
		if spends > 0 {
			b.anchor = r.Take(32, "anchor")
		}
		r.Take(spends*(proofSize+64)+outputs*proofSize+64, "Sapling proofs and signatures")
	}
	if actions, b.actions = take(actionSize, "Orchard actions"); actions > 0 {
		b.rest = r.Take(1+8+32, "flags, value balance and anchor")
		r.Take(r.Count(1, "bytes of proofs"), "Orchard proofs")
		r.Take((actions+1)*64, "Orchard signatures")
	}
	return b
}

// Inputless reports whether a transaction can have no inputs, and no outputs: value then comes from a pool.
func Inputless(first uint32) bool { return first&VersionMask > 1 }
