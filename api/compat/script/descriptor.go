package script

import (
	"encoding/hex"
	"strconv"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"

	"birthmark/chains/bitcoin/block"
	bip380 "birthmark/chains/bitcoin/descriptor"
)

// AppendDescriptor appends the descriptor with checksum (BIP 380) that Bitcoin Core infers for an output script whose keys
// and scripts it does not know (InferDescriptor): pk, multi and rawtr with the keys that are in the script, else addr with
// its address, which is empty if it has none, or raw.
func AppendDescriptor(to, script []byte, address string) []byte {
	start := len(to)
	if to = appendKeys(to, script); len(to) == start {
		if address != "" {
			to = append(append(append(to, "addr("...), address...), ')')
		} else {
			to = append(hex.AppendEncode(append(to, "raw("...), script), ')')
		}
	}
	sum, _ := bip380.Checksum(string(to[start:])) // all characters are those of descriptors
	return append(append(to, '#'), sum...)
}

// appendKeys appends the descriptor of a script that contains its keys; nothing, if Core infers none from them.
func appendKeys(to, script []byte) []byte {
	kind, key := block.Solve(script)
	switch kind {
	case block.PubKey:
		if !hybrid(key) {
			return append(hex.AppendEncode(append(to, "pk("...), key), ')')
		}
	case block.WitnessV1Taproot:
		if _, err := schnorr.ParsePubKey(key); err == nil {
			return append(hex.AppendEncode(append(to, "rawtr("...), key), ')')
		}
	case block.Multisig:
		return appendMultisig(to, script)
	}
	return to
}

// hybrid reports whether a public key has the form (6, 7) that descriptors do not have.
func hybrid(key []byte) bool { return key[0] > 4 }

func appendMultisig(to, script []byte) []byte {
	start := len(to)
	op, data, rest, _ := block.NextOp(script)
	required := int(op) - op1 + 1
	if len(data) > 0 {
		required = int(data[0])
	}
	to = strconv.AppendInt(append(to, "multi("...), int64(required), 10)
	for {
		if _, data, rest, _ = block.NextOp(rest); len(data) < 2 { // the number of keys
			return append(to, ')')
		}
		if hybrid(data) {
			return to[:start]
		}
		to = hex.AppendEncode(append(to, ','), data)
	}
}
