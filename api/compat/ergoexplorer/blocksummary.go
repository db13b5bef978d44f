package ergoexplorer

import (
	"encoding/json"
	"net/http"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Summaries of blocks have headers and transactions in the form of version 0 of the API.

// addFullBlock writes the BlockSummary of a block: with its extension and its proofs, which only the node has, and the
// ids of the blocks beside it.
func (q *request) addFullBlock(b *boxes.Block) error {
	q.Add(`{"block":`)
	if err := q.addContentsOf(b); err != nil {
		return err
	}
	extension, proofs := q.sections(b)
	q.Add(`,"extension":`)
	q.Out = append(q.Out, extension...)
	q.Add(`,"adProofs":`)
	q.Out = append(q.Out, proofs...)
	q.Add(`},"references":{"previousId":`)
	q.ID(b.Header.Parent)
	q.Add(`,"nextId":`)
	if int(b.Height) == q.v.Height() {
		q.Add("null}}")
		return nil
	}
	next, err := q.v.Block(b.Height + 1)
	if err != nil {
		return err
	}
	q.Hex(next.ID[:])
	q.Add("}}")
	return nil
}

// addSummary writes a block of a stream.
func (q *request) addSummary(b *boxes.Block) error {
	err := q.addContentsOf(b)
	q.Add("}")
	return err
}

// addContentsOf writes the header and the transactions of a block, without the closing brace.
func (q *request) addContentsOf(b *boxes.Block) error {
	pks, err := b.TxPks()
	if err != nil {
		return err
	}
	q.Add(`{"header":`)
	q.addHeaderInfo(b)
	q.Add(`,"blockTransactions":[`)
	for i := 0; i < len(pks); i += txRows {
		txs, err := q.v.FullTxs(pks[i:min(i+txRows, len(pks))])
		if err != nil {
			return err
		}
		tokens, err := q.tokensOf(txs...)
		if err != nil {
			return err
		}
		for n := range txs {
			q.Comma(i + n)
			q.addSummaryTx(&txs[n], tokens)
		}
		if err := q.Flush(); err != nil {
			return err
		}
	}
	q.Add("]")
	return nil
}

// addHeaderInfo writes a header with its difficulty, and the size of the block.
func (q *request) addHeaderInfo(b *boxes.Block) {
	h := b.Header
	q.addHeaderStart(b)
	q.Add(`,"epoch":`)
	q.Int(int(b.Height) / epochBlocks)
	q.Add(`,"difficulty":`, h.Difficulty().String(), `,"size":`)
	q.Int(b.Size)
	q.Add(`,"votes":{`)
	for i, vote := range h.Votes {
		q.Comma(i)
		q.Add(`"_`, strconv.Itoa(i+1), `":`, strconv.Itoa(int(int8(vote))))
	}
	q.Add("}}")
}

// addSummaryTx writes a transaction of a block.
func (q *request) addSummaryTx(t *boxes.FullTx, tokens map[sigma.ID]*boxes.Token) {
	q.Add(`{"id":`)
	q.Hex(t.ID[:])
	q.Add(`,"headerId":`)
	q.Hex(t.Block.ID[:])
	q.Add(`,"inclusionHeight":`)
	q.Int(int(t.Block.Height))
	q.Add(`,"timestamp":`)
	q.Uint(t.Block.Header.Timestamp)
	q.Add(`,"index":`)
	q.Int(q.v.Q.TxIndex(t.Pk))
	q.Add(`,"confirmationsCount":`)
	q.Int(q.v.Height() - int(t.Block.Height) + 1)
	q.Add(`,"inputs":[`)
	for i := range t.Inputs {
		q.Comma(i)
		q.addSummaryInput(t, &t.Inputs[i], i, t.Tx.Inputs[i].Proof)
	}
	q.Add(`],"dataInputs":[`)
	n := 0
	for i, b := range t.Data {
		if b != nil {
			q.Comma(n)
			n++
			q.addSummaryInput(t, b, i, nil)
		}
	}
	q.Add(`],"outputs":[`)
	for i := range t.Outputs {
		q.Comma(i)
		q.addSummaryOutput(&t.Outputs[i], tokens)
	}
	q.Add("]}")
}

// addSummaryInput writes an input, or a data input if its proof is nil.
func (q *request) addSummaryInput(t *boxes.FullTx, b *boxes.Box, i int, proof []byte) {
	q.Add(`{"id":`)
	q.ID(b.ID())
	q.Add(`,"value":`)
	q.Uint(b.Box().Value)
	q.Add(`,"index":`)
	q.Int(i)
	if proof != nil {
		q.Add(`,"spendingProof":`)
		q.addProof(proof)
	}
	q.Add(`,"transactionId":`)
	q.Hex(t.ID[:])
	q.Add(`,"outputTransactionId":`)
	q.Hex(b.Tx.ID[:])
	q.Add(`,"outputIndex":`)
	q.Int(b.Pos)
	q.Add(`,"address":"`, q.v.Address(b.Tx, b.Pos), `"}`)
}

// addSummaryOutput writes an output. Its registers are only the serialized values.
func (q *request) addSummaryOutput(b *boxes.Box, tokens map[sigma.ID]*boxes.Token) {
	q.addOldOutput(b, tokens)
	q.Add(`,"spentTransactionId":`)
	if b.Spend == nil {
		q.Add("null")
	} else {
		q.Hex(b.Spend.Tx.ID[:])
	}
	q.Add(`,"mainChain":true}`)
}

// addOldOutput writes the fields of a box that version 0 of the API and summaries of blocks have, without the closing
// brace.
func (q *request) addOldOutput(b *boxes.Box, tokens map[sigma.ID]*boxes.Token) {
	box := b.Box()
	q.Add(`{"id":`)
	q.ID(b.ID())
	q.Add(`,"txId":`)
	q.Hex(b.Tx.ID[:])
	q.Add(`,"value":`)
	q.Uint(box.Value)
	q.Add(`,"index":`)
	q.Int(b.Pos)
	q.Add(`,"creationHeight":`)
	q.Uint(uint64(box.Height))
	q.Add(`,"ergoTree":`)
	q.Hex(box.Tree)
	q.Add(`,"address":"`, q.v.Address(b.Tx, b.Pos), `","assets":`)
	q.addAssets(box, tokens)
	q.Add(`,"additionalRegisters":{`)
	for n, raw := range box.Additional() {
		q.Comma(n - sigma.FirstRegister)
		q.Add(`"R`, strconv.Itoa(n), `":`)
		q.Hex(raw)
	}
	q.Add("}")
}

// sections returns the extension and the proofs of a block as the node has them; without a node an extension without
// fields, and null.
func (q *request) sections(b *boxes.Block) (extension, proofs []byte) {
	var full struct {
		Extension struct {
			Digest string
			Fields [][2]string
		}
		ADProofs *struct{ ProofBytes string }
	}
	if node := q.Chain.Node(); node != nil {
		if a, err := node.Ask(q.Ctx, []string{"blocks", b.ID.String()}, nil, nil); err == nil && a.Status == http.StatusOK {
			_ = json.Unmarshal(a.Body, &full) // as without a node if this fails
		}
	}
	fields := map[string]string{}
	for _, f := range full.Extension.Fields {
		fields[f[0]] = f[1]
	}
	extension, err := json.Marshal(map[string]any{
		"headerId": b.ID.String(), "digest": model.Hash(b.Header.ExtensionRoot).String(), "fields": fields,
	})
	if err != nil {
		panic(err) // impossible: they are strings
	}
	proofs = []byte("null")
	if full.ADProofs != nil {
		proofs = strconv.AppendQuote(nil, full.ADProofs.ProofBytes)
	}
	return extension, proofs
}
