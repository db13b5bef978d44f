package exchange

import (
	"fmt"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// PathTx returns the transaction of the path. Transactions that represent outputs before the first block are not found:
// they are in no block.
func (q *Request) PathTx() (model.TxPk, error) {
	id, ok := ReadHash(q.Args[0])
	if !ok {
		return 0, ErrNotFound
	}
	found, err := q.Q.TxPks([]model.Hash{id})
	if err != nil {
		return 0, err
	}
	if len(found[0]) == 0 || q.Q.IsGenesis(found[0][0]) {
		return 0, ErrNotFound
	}
	return found[0][0], nil
}

// Decoded is a transaction, as far as it is in its block, with its parts that no row has.
type Decoded struct {
	Pk    model.TxPk
	Bytes []byte    // the whole transaction
	Parts body.Body // of its body
	*utxo.Tx
	Details *model.TxDescription
}

// Decode reads the raw transaction of the path.
func (q *Request) Decode() (*Decoded, error) {
	pk, err := q.PathTx()
	if err != nil {
		return nil, err
	}
	return q.DecodeTx(pk)
}

// DecodeTx reads a raw transaction.
func (q *Request) DecodeTx(pk model.TxPk) (*Decoded, error) {
	raws, err := q.Q.RawTxs([]model.TxPk{pk})
	if err != nil {
		return nil, err
	}
	d, err := q.Decoding(raws[0])
	if err != nil {
		return nil, fmt.Errorf("raw transaction %v: %w", pk, err)
	}
	d.Pk = pk
	return d, nil
}

// Decoding decodes a raw transaction.
func (q *Request) Decoding(raw []byte) (*Decoded, error) {
	t, err := ledger.ReadRaw(raw)
	if err != nil {
		return nil, err
	}
	d := &Decoded{Bytes: raw, Tx: &utxo.Tx{RawTx: t}}
	d.Details, err = q.Chain.Model.(model.TxDescriber).DescribeTx(raw, nil, nil)
	if err == nil {
		d.Parts, err = body.Read(t.Body)
	}
	if err != nil {
		return nil, err
	}
	if t.Failed { // nothing but its collateral counts
		d.Parts.Mints, d.Details.Certificates, d.Details.Withdrawals = nil, nil, nil
		d.Parts.Donation = 0
	}
	return d, nil
}

// Hashes returns the hashes of transactions.
func (q *Request) Hashes(txs []model.TxPk) ([]string, error) {
	ids, err := q.Q.TxIDs(txs)
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all, err
}

// HashOf returns the hash of a transaction.
func (q *Request) HashOf(tx model.TxPk) (string, error) {
	ids, err := q.Q.TxIDs([]model.TxPk{tx})
	if err != nil {
		return "", err
	}
	return ids[0].String(), nil
}

// EpochOf returns the epoch of the block of a transaction.
func (q *Request) EpochOf(tx model.TxPk) (uint64, error) {
	row, err := q.Block(tx.Height())
	if err != nil {
		return 0, err
	}
	if row.Parsed.Epoch == nil {
		return 0, NotImplemented("the epochs of a network are known only with its genesis files")
	}
	return *row.Parsed.Epoch, nil
}
