package boxes

import (
	"math/big"
	"strconv"

	"birthmark/chains/ergo/sigma"
)

// AddBox appends the fields of a box as the node writes them, without the braces.
func (a *Answer) AddBox(b *Box) {
	a.Add(`"boxId":`)
	a.ID(b.ID())
	a.addContents(b)
}

// addContents appends the fields of a box after its id.
func (a *Answer) addContents(b *Box) {
	box := b.Box()
	a.Add(`,"value":`)
	a.Uint(box.Value)
	a.Add(`,"ergoTree":`)
	a.Hex(box.Tree)
	a.Add(`,"assets":[`)
	for i := range box.Tokens {
		a.Comma(i)
		a.Add(`{"tokenId":`)
		a.ID(box.Tokens[i].ID)
		a.Add(`,"amount":`)
		a.Uint(box.Tokens[i].Amount)
		a.Add("}")
	}
	a.Add(`],"creationHeight":`)
	a.Uint(uint64(box.Height))
	a.Add(`,"additionalRegisters":{`)
	for n, raw := range box.Additional() {
		a.Comma(n - sigma.FirstRegister)
		a.Add(`"R`, strconv.Itoa(n), `":`)
		a.Hex(raw)
	}
	a.Add(`},"transactionId":`)
	a.Hex(b.Tx.ID[:])
	a.Add(`,"index":`)
	a.Int(b.Pos)
}

// AddInput appends an input as the node writes it in transactions. The fields of the box that it spends are added if box
// is not nil.
func (a *Answer) AddInput(in *sigma.Input, box *Box) {
	a.Add(`{"boxId":`)
	a.ID(in.Box)
	a.Add(`,"spendingProof":`)
	a.AddProof(in)
	if box != nil {
		a.addContents(box)
	}
	a.Add("}")
}

// AddProof appends the proof of an input with its variables.
func (a *Answer) AddProof(in *sigma.Input) {
	a.Add(`{"proofBytes":`)
	a.Hex(in.Proof)
	a.Add(`,"extension":`)
	a.AddExtension(in)
	a.Add("}")
}

// AddExtension appends the variables of an input by their numbers, which are signed bytes.
func (a *Answer) AddExtension(in *sigma.Input) {
	a.Add("{")
	for i, x := range in.Extension {
		if x.Value == nil {
			break // its bytes are in the one before it: see [sigma.ParseTx]
		}
		a.Comma(i)
		a.Add(`"`, strconv.Itoa(int(int8(x.ID))), `":`)
		a.Hex(x.Value)
	}
	a.Add("}")
}

// AddDataInputs appends the list of data inputs.
func (a *Answer) AddDataInputs(t *Tx) {
	a.Add(`"dataInputs":[`)
	for i, id := range t.DataInputs {
		a.Comma(i)
		a.Add(`{"boxId":`)
		a.ID(id)
		a.Add("}")
	}
	a.Add("]")
}

// AddTx appends a transaction as the node writes it in blocks. With inputs, which are the boxes that it spends, their
// fields are added, as in its mempool.
func (a *Answer) AddTx(t *Tx, inputs []*Box) {
	a.Add(`{"id":`)
	a.Hex(t.ID[:])
	a.Add(`,"inputs":[`)
	for i := range t.Inputs {
		a.Comma(i)
		var box *Box
		if inputs != nil {
			box = inputs[i]
		}
		a.AddInput(&t.Inputs[i], box)
	}
	a.Add("],")
	a.AddDataInputs(t)
	a.Add(`,"outputs":[`)
	for i := range t.Outputs {
		a.Comma(i)
		a.Add("{")
		a.AddBox(&Box{Tx: t, Pos: i})
		a.Add("}")
	}
	a.Add(`],"size":`)
	a.Int(t.Size)
	a.Add("}")
}

// AddHeader appends the header of a block as the node writes it.
func (a *Answer) AddHeader(b *Block) {
	h := b.Header
	a.Add(`{"extensionId":`)
	a.ID(b.Section(SectionExtension, h.ExtensionRoot))
	a.Add(`,"difficulty":"`, h.Difficulty().String(), `","votes":`)
	a.Hex(h.Votes[:])
	a.Add(`,"timestamp":`)
	a.Uint(h.Timestamp)
	a.Add(`,"size":`)
	a.Int(b.Bytes)
	a.Add(`,"unparsedBytes":`)
	a.Hex(h.Unparsed)
	a.Add(`,"stateRoot":`)
	a.Hex(h.StateRoot[:])
	a.Add(`,"height":`)
	a.Uint(uint64(h.Height))
	a.Add(`,"nBits":`)
	a.Uint(uint64(h.NBits))
	a.Add(`,"version":`)
	a.Int(int(h.Version))
	a.Add(`,"id":`)
	a.Hex(b.ID[:])
	a.Add(`,"adProofsRoot":`)
	a.ID(h.ADProofsRoot)
	a.Add(`,"transactionsRoot":`)
	a.ID(h.TransactionsRoot)
	a.Add(`,"extensionHash":`)
	a.ID(h.ExtensionRoot)
	a.Add(`,"powSolutions":`)
	a.AddSolution(h)
	a.Add(`,"adProofsId":`)
	a.ID(b.Section(SectionProofs, h.ADProofsRoot))
	a.Add(`,"transactionsId":`)
	a.ID(b.Section(SectionTransactions, h.TransactionsRoot))
	a.Add(`,"parentId":`)
	a.ID(h.Parent)
	a.Add("}")
}

// OneTimeKey returns the field w of the solution of a header. Versions without it have the generator of the curve.
func OneTimeKey(h *sigma.Header) [sigma.PointSize]byte {
	if h.Version > 1 {
		return sigma.Generator
	}
	return h.W
}

// AddSolution appends the solution of a header.
func (a *Answer) AddSolution(h *sigma.Header) {
	w := OneTimeKey(h)
	a.Add(`{"pk":`)
	a.Hex(h.MinerKey[:])
	a.Add(`,"w":`)
	a.Hex(w[:])
	a.Add(`,"n":`)
	a.Hex(h.Nonce[:])
	a.Add(`,"d":`, new(big.Int).SetBytes(h.D).String(), "}")
}
