package ergogen

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

const (
	version = 4
	bits    = 108188994

	// Section type ids, which together with the block's id and the section's root make its id.
	sectionTransactions = 102
	sectionADProofs     = 104
	sectionExtension    = 108

	// After the block's id, transactions with witnesses have a version number (BlockTransactionsSerializer).
	versionOffset = 10_000_000

	proofsEvery = 16 // blocks; one of them has the proofs that only some nodes store
)

// assemble makes the block of its transactions.
func (c *Chain) assemble() Block {
	height := c.height()
	c.time += blockTime/2 + c.rng.Uint64N(blockTime)
	fields := c.extension()
	h := sigma.Header{
		Version: version, Parent: sigma.ID(c.Tip().Hash), TransactionsRoot: sigma.TransactionsRoot(version, c.ids, c.witnesses),
		Timestamp: c.time, ExtensionRoot: sigma.ExtensionRoot(fields), NBits: bits, Height: height, MinerKey: c.miner.key,
	}
	var proofs []byte
	if height%proofsEvery == 0 {
		proofs = c.rng.Filler(nil, 2000*len(c.ids))
		h.ADProofsRoot = blake2b.Sum256(proofs)
	} else {
		distribution.Fill(h.ADProofsRoot[:], c.rng.Uint64())
	}
	distribution.Fill(h.StateRoot[:], c.rng.Uint64())
	distribution.Fill(h.Nonce[:], c.rng.Uint64())
	c.raw = h.AppendTo(c.raw[:0])
	id := sigma.ID(blake2b.Sum256(c.raw))

	size := len(id) + len(binary.AppendUvarint(nil, versionOffset+version)) + len(binary.AppendUvarint(nil, uint64(len(c.ids)))) + c.txBytes
	b := make([]byte, 0, len(c.txs)+2*len(proofs)+4<<10)
	b = appendHeader(append(b, `{"header":`...), &h, id, len(c.raw))
	b = appendHex(b, `,"blockTransactions":{"headerId":"`, id[:])
	b = append(append(b, `","transactions":[`...), c.txs...)
	b = appendNumber(b, `],"blockVersion":`, version)
	b = appendNumber(b, `,"size":`, uint64(size))
	b = appendHex(b, `},"extension":{"headerId":"`, id[:])
	b = appendHex(b, `","digest":"`, h.ExtensionRoot[:])
	b = append(b, `","fields":[`...)
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendHex(b, `["`, f.Key[:])
		b = append(appendHex(b, `","`, f.Value), `"]`...)
	}
	b = append(b, `]},"adProofs":`...)
	if proofs == nil {
		b = append(b, "null"...)
	} else {
		b = appendHex(b, `{"headerId":"`, id[:])
		b = appendHex(b, `","proofBytes":"`, proofs)
		b = appendHex(b, `","digest":"`, h.ADProofsRoot[:])
		b = append(appendNumber(b, `","size":`, uint64(len(proofs))), '}')
	}
	b = append(appendNumber(b, `,"size":`, uint64(len(c.raw)+size)), '}')
	return Block{Height: model.HeightPk(height), ID: model.Hash(id), Parent: c.Tip().Hash, JSON: b}
}

// extension is the miner's extension section: interlinks.
func (c *Chain) extension() []sigma.Field {
	if c.Tip().IsOrigin() {
		return nil
	}
	link := func(n, count byte, id model.Hash) sigma.Field {
		return sigma.Field{Key: [2]byte{1, n}, Value: append([]byte{count}, id[:]...)}
	}
	return []sigma.Field{link(0, 1, c.first), link(1, 1+byte(c.rng.IntN(5)), c.Tip().Hash)}
}

func appendHeader(b []byte, h *sigma.Header, id sigma.ID, size int) []byte {
	section := func(kind byte, root sigma.ID) []byte {
		sum := blake2b.Sum256(append(append([]byte{kind}, id[:]...), root[:]...))
		return sum[:]
	}
	b = appendHex(b, `{"extensionId":"`, section(sectionExtension, h.ExtensionRoot))
	b = append(append(b, `","difficulty":"`...), h.Difficulty().String()...)
	b = appendHex(b, `","votes":"`, h.Votes[:])
	b = appendNumber(b, `","timestamp":`, h.Timestamp)
	b = appendNumber(b, `,"size":`, uint64(size))
	b = appendHex(b, `,"unparsedBytes":"`, h.Unparsed)
	b = appendHex(b, `","stateRoot":"`, h.StateRoot[:])
	b = appendNumber(b, `","height":`, uint64(h.Height))
	b = appendNumber(b, `,"nBits":`, uint64(h.NBits))
	b = appendNumber(b, `,"version":`, uint64(h.Version))
	b = appendHex(b, `,"id":"`, id[:])
	b = appendHex(b, `","adProofsRoot":"`, h.ADProofsRoot[:])
	b = appendHex(b, `","transactionsRoot":"`, h.TransactionsRoot[:])
	b = appendHex(b, `","extensionHash":"`, h.ExtensionRoot[:])
	b = appendHex(b, `","powSolutions":{"pk":"`, h.MinerKey[:])
	b = append(b, `","w":"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798`...)
	b = appendHex(b, `","n":"`, h.Nonce[:])
	b = appendHex(b, `","d":0},"adProofsId":"`, section(sectionADProofs, h.ADProofsRoot))
	b = appendHex(b, `","transactionsId":"`, section(sectionTransactions, h.TransactionsRoot))
	b = appendHex(b, `","parentId":"`, h.Parent[:])
	return append(b, `"}`...)
}

func appendTx(b []byte, t *sigma.Tx, id sigma.ID, boxes []sigma.ID, size int) []byte {
	b = appendHex(b, `{"id":"`, id[:])
	b = append(b, `","inputs":[`...)
	for i := range t.Inputs {
		in := &t.Inputs[i]
		b = appendHex(separated(b, i), `{"boxId":"`, in.Box[:])
		b = appendHex(b, `","spendingProof":{"proofBytes":"`, in.Proof)
		b = append(b, `","extension":{`...)
		for j, v := range in.Extension {
			b = appendNumber(separated(b, j), `"`, uint64(v.ID))
			b = append(appendHex(b, `":"`, v.Value), '"')
		}
		b = append(b, `}}}`...)
	}
	b = append(b, `],"dataInputs":[`...)
	for i, id := range t.DataInputs {
		b = append(appendHex(separated(b, i), `{"boxId":"`, id[:]), `"}`...)
	}
	b = append(b, `],"outputs":[`...)
	for i := range t.Outputs {
		b = appendBox(separated(b, i), &t.Outputs[i], id, i, boxes[i])
	}
	return append(appendNumber(b, `],"size":`, uint64(size)), '}')
}

func appendBox(b []byte, box *sigma.Box, tx sigma.ID, index int, id sigma.ID) []byte {
	b = appendHex(b, `{"boxId":"`, id[:])
	b = appendNumber(b, `","value":`, box.Value)
	b = appendHex(b, `,"ergoTree":"`, box.Tree)
	b = append(b, `","assets":[`...)
	for i, h := range box.Tokens {
		b = appendHex(separated(b, i), `{"tokenId":"`, h.ID[:])
		b = append(appendNumber(b, `","amount":`, h.Amount), '}')
	}
	b = appendNumber(b, `],"creationHeight":`, uint64(box.Height))
	b = append(b, `,"additionalRegisters":{`...)
	for i, r := range box.Registers {
		b = appendNumber(separated(b, i), `"R`, uint64(4+i))
		b = append(appendHex(b, `":"`, r), '"')
	}
	b = appendHex(b, `},"transactionId":"`, tx[:])
	return append(appendNumber(b, `","index":`, uint64(index)), '}')
}

func separated(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func appendHex(b []byte, before string, value []byte) []byte {
	return hex.AppendEncode(append(b, before...), value)
}

func appendNumber(b []byte, before string, n uint64) []byte {
	return strconv.AppendUint(append(b, before...), n, 10)
}
