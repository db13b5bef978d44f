package wallet

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/core/pending"
	"birthmark/core/schema"
	"birthmark/model"
)

// Place is where a transaction is.
type Place struct {
	Confirmed bool
	Height    uint32 // of confirmed ones only, as the next
	Position  int
	BlockHash model.Hash
	BlockTime int64
	// UnconfirmedParent: it is unconfirmed and spends an output of an unconfirmed transaction.
	UnconfirmedParent bool
}

// notInChain is the pointer of a transaction that the chain does not have.
const notInChain = ^model.TxPk(0)

// find returns the pointer of each transaction: of the newest one if several have the id (BIP 30), and notInChain for
// an id that the chain does not have.
func (v *View) find(ids []model.Hash) ([]model.TxPk, error) {
	found, err := v.q.TxPks(ids)
	if err != nil {
		return nil, err
	}
	pks := make([]model.TxPk, len(ids))
	for i := range found {
		if pks[i] = notInChain; len(found[i]) > 0 {
			pks[i] = found[i][0]
		}
	}
	return pks, nil
}

// findOne returns the pointer of a transaction of the chain, or the transaction of the mempool; NotFound (unknown_tx).
func (v *View) findOne(id model.Hash) (model.TxPk, *pending.Tx, error) {
	pks, err := v.find([]model.Hash{id})
	if err != nil {
		return 0, nil, err
	}
	if pks[0] != notInChain {
		return pks[0], nil, nil
	}
	t := v.unconfirmed(id)
	if t == nil {
		return 0, nil, unknownTx(id)
	}
	return 0, t, nil
}

// places returns the places of confirmed transactions.
func (v *View) places(pks []model.TxPk) ([]Place, error) {
	rows := map[model.HeightPk]*schema.BlockRow{}
	var heights []model.HeightPk
	for _, pk := range pks {
		if _, known := rows[pk.Height()]; !known {
			rows[pk.Height()] = nil
			heights = append(heights, pk.Height())
		}
	}
	blocks, err := v.q.BlockRows(heights)
	if err != nil {
		return nil, err
	}
	for i, h := range heights {
		rows[h] = &blocks[i]
	}
	places := make([]Place, len(pks))
	for i, pk := range pks {
		b := rows[pk.Height()]
		places[i] = Place{
			Confirmed: true, Height: uint32(pk.Height()), Position: pk.TxIndex(), BlockHash: b.Hash, BlockTime: b.Time,
		}
	}
	return places, nil
}

// Place finds a transaction; NotFound (unknown_tx).
func (v *View) Place(id model.Hash) (Place, error) {
	pk, t, err := v.findOne(id)
	if err != nil {
		return Place{}, err
	}
	if t != nil {
		return v.unconfirmedPlace(t), nil
	}
	places, err := v.places([]model.TxPk{pk})
	if err != nil {
		return Place{}, err
	}
	return places[0], nil
}

// RawTx returns the serialized transaction, with witness; NotFound (unknown_tx).
func (v *View) RawTx(id model.Hash) ([]byte, Place, error) {
	pk, t, err := v.findOne(id)
	if err != nil {
		return nil, Place{}, err
	}
	if t != nil {
		raw, err := v.chain.served.Mempool.Raw(v.q.Ctx, t)
		return raw, v.unconfirmedPlace(t), err
	}
	pks := []model.TxPk{pk}
	places, err := v.places(pks)
	if err != nil {
		return nil, Place{}, err
	}
	raws, err := v.q.RawTxs(pks)
	if err != nil {
		return nil, Place{}, err
	}
	return raws[0], places[0], nil
}

// Output is an output that exists. On a chain with colored coins, the value of a colored output is the amount of the
// color, which its script begins with.
type Output struct {
	Value  uint64
	Script []byte
}

// Tx is a transaction with the outputs that it spends.
type Tx struct {
	ID       model.Hash
	Raw      []byte
	Msg      *wire.MsgTx // Raw, parsed; must not be changed
	Place    Place
	Prevouts []Output // by input; empty for a coinbase
	Fee      uint64   // 0 for a coinbase
	VSize    int
	Weight   int
	Seen     time.Time // of an unconfirmed one; zero: unknown
}

// Tx returns a transaction; NotFound (unknown_tx).
func (v *View) Tx(id model.Hash) (*Tx, error) {
	txs, err := v.Txs([]model.Hash{id})
	if err != nil {
		return nil, err
	}
	if len(txs) == 0 {
		return nil, unknownTx(id)
	}
	return txs[0], nil
}

// Txs returns transactions as Tx does, in the order of ids, without unconfirmed ones that have left the node. It reads
// their blocks and outputs together.
func (v *View) Txs(ids []model.Hash) ([]*Tx, error) {
	pks, err := v.find(ids)
	if err != nil {
		return nil, err
	}
	txs := make([]*Tx, len(ids))
	var inChain []model.TxPk
	var their []model.Hash
	for i, pk := range pks {
		if pk != notInChain {
			inChain, their = append(inChain, pk), append(their, ids[i])
			continue
		}
		t := v.unconfirmed(ids[i])
		if t == nil {
			return nil, unknownTx(ids[i])
		}
		if txs[i], err = v.unconfirmedTx(t); err != nil && !pending.HasLeft(err) {
			return nil, err
		}
	}
	confirmed, err := v.txs(their, inChain)
	if err != nil {
		return nil, err
	}
	for i, pk := range pks {
		if pk != notInChain {
			txs[i], confirmed = confirmed[0], confirmed[1:]
		}
	}
	return slices.DeleteFunc(txs, func(t *Tx) bool { return t == nil }), nil
}

// BlockTxs returns n transactions of a block from a position on, fewer at its end.
func (v *View) BlockTxs(height uint32, from, n int) ([]*Tx, error) {
	h, err := v.height(height)
	if err != nil {
		return nil, err
	}
	if from < 0 || from > model.MaxTxIndex {
		return nil, nil
	}
	ids, pks, err := v.blockPart(h, from, n)
	if err != nil {
		return nil, err
	}
	return v.txs(ids, pks)
}

// blockPart returns the ids and pointers of n transactions of a block from a position on, fewer at its end.
func (v *View) blockPart(h model.HeightPk, from, n int) ([]model.Hash, []model.TxPk, error) {
	ids, err := v.q.BlockTxIDs(h, from, n)
	if err != nil {
		return nil, nil, err
	}
	pks := make([]model.TxPk, len(ids))
	for i := range pks {
		if pks[i], err = v.q.NewTxPk(h, from+i); err != nil {
			return nil, nil, err
		}
	}
	return ids, pks, nil
}

// txs returns confirmed transactions.
func (v *View) txs(ids []model.Hash, pks []model.TxPk) ([]*Tx, error) {
	places, err := v.places(pks)
	if err != nil {
		return nil, err
	}
	raws, err := v.q.RawTxs(pks)
	if err != nil {
		return nil, err
	}
	var spends []model.UtxoPk
	ends := make([]int, len(pks)) // ends of each transaction's part of spends
	for i, pk := range pks {
		spent, err := v.q.SpendsOf(pk)
		if err != nil {
			return nil, err
		}
		spends = append(spends, spent...)
		ends[i] = len(spends)
	}
	prevouts, err := v.outputs(spends)
	if err != nil {
		return nil, err
	}
	txs := make([]*Tx, len(pks))
	for i := range pks {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		txs[i] = &Tx{ID: ids[i], Raw: raws[i], Place: places[i], Prevouts: prevouts[from:ends[i]:ends[i]]}
		if err := v.chain.measure(txs[i]); err != nil {
			return nil, fmt.Errorf("transaction %s: %w", displayed(ids[i]), err)
		}
	}
	return txs, nil
}

// measure parses Raw and sets the fields that follow from it and from Prevouts.
func (c *Chain) measure(t *Tx) (err error) {
	if t.Msg, err = parseTx(t.Raw); err != nil {
		return err
	}
	t.Weight = 3*t.Msg.SerializeSizeStripped() + len(t.Raw)
	t.VSize = (t.Weight + 3) / 4
	if len(t.Prevouts) == 0 {
		return nil
	}
	if len(t.Prevouts) != len(t.Msg.TxIn) {
		return fmt.Errorf("it has %d inputs, and the database has %d: run check", len(t.Msg.TxIn), len(t.Prevouts))
	}
	for _, o := range t.Prevouts {
		t.Fee += c.form.coins(o.Value, o.Script)
	}
	for _, o := range t.Msg.TxOut {
		t.Fee -= c.form.coins(uint64(o.Value), o.PkScript)
	}
	return nil
}

func parseTx(raw []byte) (*wire.MsgTx, error) {
	tx := new(wire.MsgTx)
	return tx, tx.Deserialize(bytes.NewReader(raw))
}

// VerboseTx returns a transaction of the view in the form of Bitcoin Core.
func (v *View) VerboseTx(raw []byte, p *Place) (*script.VerboseTx, error) {
	var in *script.Confirmation
	if p.Confirmed {
		in = &script.Confirmation{
			Block: script.Hash(p.BlockHash), Confirmations: uint32(v.Tip.Height) - p.Height + 1, Time: p.BlockTime, BlockTime: p.BlockTime,
		}
	}
	return script.VerboseTxOf(raw, v.chain.Address, in)
}
