package txformat

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/minio/blake2b-simd"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// ID returns the id of a transaction: in version 5 that of ZIP 244, which does not cover signatures and proofs, and in
// version 6 that of ZIP 229, which does not cover anchors either.
func ID(raw []byte, s block.Span) model.Hash {
	first := binary.LittleEndian.Uint32(raw[s.Start:])
	version := first &^ overwintered
	if first&overwintered == 0 || version < zip225 {
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
	b := takeBundles(block.NewReader(raw[end:s.End]), version)
	parts := [][]byte{
		digest("ZTxIdHeadersHash", raw[s.Start:s.Body]),
		unless(inputs+count == 0, "ZTxIdTranspaHash", digest("ZTxIdPrevoutHash", outpoints),
			digest("ZTxIdSequencHash", sequences), digest("ZTxIdOutputsHash", raw[from:end])),
		b.sapling(version),
	}
	if version < zip229 {
		parts = append(parts, b.orchard.digest("ZTxIdOrchardHash", "ZTxIdOrcAct%cHash", b.orchard.anchor))
	} else {
		parts = append(parts, b.orchard.digest("ZTxIdOrchardH_v6", "ZTxIdOrcAct%cHash", nil),
			b.ironwood.digest("ZTxIdIronwd_H_v6", "ZTxIdIrnAct%cH_v6", nil))
	}
	return model.Hash(digest("ZcashTxHash_"+string(raw[s.Start+8:s.Start+12]), parts...))
}

// sapling returns the digest of the Sapling part.
func (b *bundles) sapling(version uint32) []byte {
	person, anchor := "ZTxIdSSpendNHash", b.anchor
	if version >= zip229 {
		person, anchor = "ZTxIdSSpendNH_v6", nil
	}
	var rest []byte
	for spend := range slices.Chunk(b.spends, spendSize) {
		rest = append(append(append(rest, spend[:32]...), anchor...), spend[64:]...)
	}
	spends := unless(len(b.spends) == 0, "ZTxIdSSpendsHash",
		digest("ZTxIdSSpendCHash", cut(b.spends, spendSize, 32, 64)), digest(person, rest))
	outputs := unless(len(b.outputs) == 0, "ZTxIdSOutputHash", digest("ZTxIdSOutC__Hash", cut(b.outputs, outputSize, 32, 148)),
		digest("ZTxIdSOutM__Hash", cut(b.outputs, outputSize, 148, 660)), digest("ZTxIdSOutN__Hash", cut(b.outputs, outputSize, 0, 32, 660, 756)))
	return unless(len(b.balance) == 0, "ZTxIdSaplingHash", spends, outputs, b.balance)
}

// digest returns the digest of a bundle of the Orchard protocol. person is its personalization, and items the format of
// those of the three parts of its actions. anchor is empty from version 6 on.
func (a actions) digest(person, items string, anchor []byte) []byte {
	part := func(kind byte, ranges ...int) []byte {
		return digest(fmt.Sprintf(items, kind), cut(a.all, actionSize, ranges...))
	}
	return unless(len(a.all) == 0, person, part('C', 32, 64, 96, 212), part('M', 212, 724),
		part('N', 0, 32, 64, 96, 724, 820), a.balance, anchor)
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
