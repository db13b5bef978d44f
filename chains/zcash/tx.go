package zcash

import (
	"encoding/binary"
	"slices"

	"github.com/minio/blake2b-simd"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Versions of transactions.
const (
	sprout  = 2 // can have JoinSplits
	sapling = 4
	zip225  = 5 // can have Orchard actions; everything but the outputs has another form
)

// prefix is what follows the first field: a group of versions and, in version 5, a branch, the lock time and the expiry.
func prefix(first uint32) (size, lock int) {
	switch {
	case first&overwintered == 0:
		return 0, 0
	case first&^overwintered < zip225:
		return 4, 0
	}
	return 16, 12
}

// payload skips the shielded parts of a transaction.
func payload(r *block.Reader, first uint32) {
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

// bundles are the bytes of the shielded parts that the id covers in version 5. Balance and anchor, and flags in Orchard, are empty
// without items.
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

// digest is BLAKE2b-256 with a personalization, of the concatenated parts.
func digest(person string, parts ...[]byte) []byte {
	h, err := blake2b.New(&blake2b.Config{Size: 32, Person: []byte(person)})
	if err != nil {
		panic(err) // the configuration is constant and valid
	}
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// cut concatenates ranges of every item: from, to, from, to….
func cut(items []byte, size int, ranges ...int) (parts []byte) {
	for item := range slices.Chunk(items, size) {
		for i := 0; i < len(ranges); i += 2 {
			parts = append(parts, item[ranges[i]:ranges[i+1]]...)
		}
	}
	return parts
}

// unless returns a digest of the parts, or of nothing if there are no items.
func unless(none bool, person string, parts ...[]byte) []byte {
	if none {
		return digest(person)
	}
	return digest(person, parts...)
}

// txHash returns the id of a transaction: from version 5 on that of ZIP 244, which does not cover signatures and proofs.
func txHash(raw []byte, s block.Span) model.Hash {
	first := binary.LittleEndian.Uint32(raw[s.Start:])
	if first&overwintered == 0 || first&^overwintered < zip225 {
		return block.DoubleHash(raw[s.Start:s.End])
	}
	var outpoints, sequences []byte
	inputs, at := block.Count(raw, s.Body)
	for range inputs {
		outpoints = append(outpoints, raw[at:at+36]...)
		script, next := block.Count(raw, at+36)
		at = next + script + 4
		sequences = append(sequences, raw[at-4:at]...)
	}
	count, from := block.Count(raw, s.Outputs)
	end := block.SkipOutputs(raw, s.Outputs)
	b := takeBundles(block.NewReader(raw[end:s.End]))
	anchored := make([]byte, 0, len(b.spends)/spendSize*spendSize)
	for spend := range slices.Chunk(b.spends, spendSize) {
		anchored = append(append(append(anchored, spend[:32]...), b.anchor...), spend[64:]...)
	}
	spends := unless(len(b.spends) == 0, "ZTxIdSSpendsHash",
		digest("ZTxIdSSpendCHash", cut(b.spends, spendSize, 32, 64)), digest("ZTxIdSSpendNHash", anchored))
	outputs := unless(len(b.outputs) == 0, "ZTxIdSOutputHash", digest("ZTxIdSOutC__Hash", cut(b.outputs, outputSize, 32, 148)),
		digest("ZTxIdSOutM__Hash", cut(b.outputs, outputSize, 148, 660)), digest("ZTxIdSOutN__Hash", cut(b.outputs, outputSize, 0, 32, 660, 756)))
	return model.Hash(digest("ZcashTxHash_"+string(raw[s.Start+8:s.Start+12]),
		digest("ZTxIdHeadersHash", raw[s.Start:s.Body]),
		unless(inputs+count == 0, "ZTxIdTranspaHash", digest("ZTxIdPrevoutHash", outpoints),
			digest("ZTxIdSequencHash", sequences), digest("ZTxIdOutputsHash", raw[from:end])),
		unless(len(b.balance) == 0, "ZTxIdSaplingHash", spends, outputs, b.balance),
		unless(len(b.actions) == 0, "ZTxIdOrchardHash", digest("ZTxIdOrcActCHash", cut(b.actions, actionSize, 32, 64, 96, 212)),
			digest("ZTxIdOrcActMHash", cut(b.actions, actionSize, 212, 724)),
			digest("ZTxIdOrcActNHash", cut(b.actions, actionSize, 0, 32, 64, 96, 724, 820)), b.rest)))
}
