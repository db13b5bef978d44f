package ledger

import (
	"bytes"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// bodyNested is the key of nested transactions in a transaction body since Dijkstra.
const bodyNested = 23

// dijkstraBody reads the body of a block of Dijkstra, whose hash the header has: failed transactions, transactions in
// one piece, and the certificates of Leios and Peras, each of them or null (rule block_body of the ledger's CDDL). With
// a certificate of Leios, the transactions are in another block.
func (d *Decoder) dijkstraBody(whole *int, f *HeaderFields) {
	w := &d.w
	w.Field(whole, "block body")
	start := w.Offset
	n := w.Array("block body")
	w.Field(&n, "failed transactions")
	failed, none := w.Offset, isNull(w)
	w.Skip("failed transactions")
	w.Field(&n, "transactions")
	txs := w.Offset
	d.wholeTxs()
	if end := w.Offset; !none && w.Err == nil {
		w.Offset = failed
		if any := d.failures(); any && w.Err == nil {
			d.forget()
			d.Parts = d.Parts[:0]
			w.Offset = txs
			d.wholeTxs()
		}
		w.Offset = max(w.Offset, end)
	} else {
		d.Failed = append(d.Failed[:0], make([]bool, len(d.Txs))...)
	}
	w.Field(&n, "certificate of Leios")
	if w.Err == nil && !isNull(w) {
		w.Fail("%w", model.Newer(unknownEra, "a block whose transactions a certificate of Leios confirms"))
	}
	w.Skip("certificate of Leios")
	w.Field(&n, "certificate of Peras")
	w.Skip("certificate of Peras")
	w.End(&n, "block body")
	if w.Err != nil {
		return
	}
	if sum := blake2b.Sum256(w.Data[start:w.Offset]); !bytes.Equal(sum[:], f.bodyHash) {
		w.Err = fmt.Errorf("the body has the hash %x: expected %x, as in the header", sum, f.bodyHash)
	}
}

func isNull(w *cbor.Walker) bool { return w.Offset < len(w.Data) && w.Data[w.Offset] == simpleNull }

// wholeTxs reads transactions, each [body, witnesses, auxiliary data or null].
func (d *Decoder) wholeTxs() {
	w := &d.w
	for n := w.Array("transactions"); w.More(&n); {
		i := len(d.Txs)
		fields := w.Array("transaction")
		w.Field(&fields, "transaction body")
		start := w.Offset
		tx := d.tx(i < len(d.Failed) && d.Failed[i])
		parts := Parts{Body: w.Data[start:max(start, w.Offset)]}
		w.Field(&fields, "witnesses")
		parts.Witnesses = w.Item("witnesses")
		w.Field(&fields, "auxiliary data")
		if !isNull(w) {
			parts.Auxiliary = w.Item("auxiliary data")
		} else {
			w.Offset++
		}
		w.End(&fields, "transaction")
		if w.Err != nil {
			w.Err = fmt.Errorf("transaction %d: %w", i, w.Err)
			return
		}
		tx.Hash = blake2b.Sum256(parts.Body)
		d.Txs = append(d.Txs, tx)
		if d.needsParts() {
			d.Parts = append(d.Parts, parts)
		}
	}
}
