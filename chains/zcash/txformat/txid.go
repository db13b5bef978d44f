package txformat

import (
	"encoding/binary"
	"slices"

	"github.com/minio/blake2b-simd"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// ID returns the id of a transaction: from version 5 on that of ZIP 244, which does not cover signatures and proofs.
func ID(raw []byte, s block.Span) model.Hash {
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
