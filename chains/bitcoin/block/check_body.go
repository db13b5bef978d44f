package block

import (
	"bytes"
	"errors"
	"fmt"

	"birthmark/model"
)

// CheckBody returns an error if the transactions of a serialized block do not fit its header: their merkle root, and
// the witnesses that the coinbase commits to (BIP 141). Before segwit a commitment may lack its witnesses. An extended
// block must have data after its last transaction, whose content is not checked. The peer that sent the block is at
// fault, since the header commits to the rest.
func (f *Format) CheckBody(raw []byte, segwit, extended bool) error {
	r := Reader{b: raw}
	size, _ := f.takeHeader(&r)
	txs := make([]Span, r.Count(f.minTxSize(), "transactions"))
	flag := byte(0)
	for i := range txs {
		txs[i] = f.readTx(&r, true)
		if flag = txs[i].flag(raw, r.err); r.err != nil {
			return fmt.Errorf("transaction %d: %w", i, r.err)
		}
	}
	switch {
	case r.err != nil:
		return r.err
	case r.Left() > 0 && flag&f.Flag == 0:
		return fmt.Errorf("%d bytes follow its transactions", r.Left())
	case extended && f.Flag != 0 && (r.Left() == 0 || flag&f.Flag == 0):
		return errors.New("it lacks its extension")
	case len(txs) == 0 || !f.beginsWithCoinbase(raw, txs[0]):
		return errors.New("it does not begin with a coinbase")
	}
	ids := make([]model.Hash, len(txs))
	var scratch []byte
	for i, s := range txs {
		ids[i], scratch = f.id(raw, s, scratch)
	}
	root, repeats := MerkleRoot(ids)
	if want := f.root(raw[:size]); root != want {
		return fmt.Errorf("its transactions have the merkle root %s, its header has %s", FormatHash(root), FormatHash(want))
	}
	if repeats {
		return errRepeats
	}
	if !f.Witness {
		return nil
	}
	return f.checkWitnesses(raw, txs, segwit)
}

// flag returns the flag of a transaction, 0 if it has none or the block ended in it.
func (s Span) flag(raw []byte, failed error) byte {
	if failed != nil || !s.Marker {
		return 0
	}
	return raw[s.Body-1]
}

func (f *Format) beginsWithCoinbase(raw []byte, first Span) bool {
	inputs, at := Count(raw, first.Body)
	return inputs == 1 && f.isCoinbase(raw[at:at+36])
}

// commitment is how the script of an output with a commitment to witnesses begins; the commitment follows.
var commitment = []byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}

// checkWitnesses compares the witnesses of a block with the commitment in its coinbase.
func (f *Format) checkWitnesses(raw []byte, txs []Span, segwit bool) error {
	any := false
	for _, s := range txs {
		any = any || s.Witness
	}
	var want []byte
	count, at := Count(raw, txs[0].Outputs)
	for range count {
		var script []byte
		if script, at = counted(raw, at+8); len(script) >= len(commitment)+32 && bytes.HasPrefix(script, commitment) {
			want = script[len(commitment):][:32]
		}
	}
	switch {
	case want == nil && any:
		return errors.New("it has witnesses, but no witness commitment")
	case want == nil, !any && !segwit:
		return nil
	}
	var nonce [][]byte
	if txs[0].Witness {
		EachWitness(raw, SkipOutputs(raw, txs[0].Outputs), 1, func(_ int, items WitnessItems) { nonce, _ = items.appendFirst(nil, 2) })
	}
	if len(nonce) != 1 || len(nonce[0]) != 32 {
		return errors.New("its coinbase does not have a witness nonce of 32 bytes, but a commitment")
	}
	ids := make([]model.Hash, len(txs)) // that of the coinbase is zero
	var scratch []byte
	for i, s := range txs[1:] {
		ids[i+1], scratch = f.witnessID(raw, s, scratch)
	}
	root, _ := MerkleRoot(ids)
	if sum := DoubleHash(append(root[:], nonce[0]...)); !bytes.Equal(sum[:], want) {
		return errors.New("its witnesses do not match the commitment in its coinbase")
	}
	return nil
}

// id returns the id of a transaction in raw. scratch is a buffer, which is returned for the next call.
func (f *Format) id(raw []byte, s Span, scratch []byte) (model.Hash, []byte) {
	switch {
	case f.TxHash != nil:
		return f.TxHash(raw, s), scratch
	case f.AppendHashed != nil:
		scratch = f.AppendHashed(scratch[:0], raw, s)
	case !s.Marker:
		return DoubleHash(raw[s.Start:s.End]), scratch
	default: // without marker and witness (BIP 141)
		scratch = append(append(scratch[:0], raw[s.Start:s.Start+4]...), raw[s.Body:SkipOutputs(raw, s.Outputs)]...)
		scratch = append(scratch, raw[s.Lock:s.End]...)
	}
	return DoubleHash(scratch), scratch
}

// witnessID returns the hash of a transaction with its witness, and without an extension.
func (f *Format) witnessID(raw []byte, s Span, scratch []byte) (model.Hash, []byte) {
	switch {
	case !s.Witness:
		return f.id(raw, s, scratch)
	case raw[s.Body-1] == witnessFlag:
		return DoubleHash(raw[s.Start:s.End]), scratch
	}
	const extension = 1 // byte of a transaction in a block
	scratch = append(append(scratch[:0], raw[s.Start:s.Start+4]...), 0, witnessFlag)
	scratch = append(append(scratch, raw[s.Body:s.Lock-extension]...), raw[s.Lock:s.End]...)
	return DoubleHash(scratch), scratch
}
