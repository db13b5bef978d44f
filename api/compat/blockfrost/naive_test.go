package blockfrost_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/ledger/common"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// naive has all blocks in memory. It scans them for every request.
type naive struct {
	chain   model.Chain
	blocks  []*naiveBlock
	outputs []*naiveOutput // in chain order
	at      map[outpoint]*naiveOutput
	err     error
}

type outpoint struct {
	tx    model.Hash
	index uint32
}

type naiveBlock struct {
	*model.Block
	header *ledger.Header
	txs    []*naiveTx
}

type naiveTx struct {
	*model.Tx
	block   *naiveBlock
	place   int
	d       *model.TxDescription
	spent   []*naiveOutput
	created []*naiveOutput
}

type naiveOutput struct {
	tx      *naiveTx
	index   int
	address []byte
	*model.Output
	details model.OutputDetails
	spent   *naiveTx
}

func newNaive(c model.Chain) *naive {
	return &naive{chain: c, at: map[outpoint]*naiveOutput{}}
}

func (n *naive) apply(e model.Event) error {
	if e.Block == nil {
		n.rollback(*e.Rollback)
		return nil
	}
	header, err := n.chain.Header(e.Block.Header)
	if err != nil {
		return err
	}
	b := &naiveBlock{Block: e.Block, header: header.(*ledger.Header)}
	n.blocks = append(n.blocks, b)
	for i := range b.Genesis {
		n.create(&naiveTx{Tx: &b.Genesis[i]})
	}
	for i := range b.Txs {
		tx := &naiveTx{Tx: &b.Txs[i], block: b, place: i}
		if tx.d, err = n.chain.(model.TxDescriber).DescribeTx(tx.Raw, nil, nil); err != nil {
			return err
		}
		for _, in := range tx.Inputs {
			o := n.at[outpoint{in.Tx, in.Index}]
			o.spent, tx.spent = tx, append(tx.spent, o)
		}
		n.create(tx)
		b.txs = append(b.txs, tx)
	}
	return nil
}

func (n *naive) create(tx *naiveTx) {
	for i := range tx.Outputs {
		o := &naiveOutput{tx: tx, index: tx.OutputIndex(i), Output: &tx.Outputs[i]}
		for _, k := range o.Keys {
			if k.Index == 0 {
				o.address = bytes.Clone(k.Value)
			}
		}
		if tx.d != nil && i < len(tx.d.Outputs) {
			o.details = tx.d.Outputs[i]
		}
		tx.created = append(tx.created, o)
		n.outputs = append(n.outputs, o)
		n.at[outpoint{tx: tx.Hash, index: uint32(o.index)}] = o
	}
}

func (n *naive) rollback(to model.Point) {
	gone := func(b *naiveBlock) bool { return to.IsOrigin() || b.Height > to.Height }
	n.blocks = slices.DeleteFunc(n.blocks, gone)
	n.outputs = slices.DeleteFunc(n.outputs, func(o *naiveOutput) bool {
		if o.spent != nil && gone(o.spent.block) {
			o.spent = nil
		}
		return o.tx.block != nil && gone(o.tx.block)
	})
}

func (n *naive) tip() *naiveBlock { return n.blocks[len(n.blocks)-1] }

type object = map[string]any

// value returns the amounts of outputs.
func value(outputs ...*naiveOutput) []any {
	sums := map[string]*big.Int{"": new(big.Int)}
	for _, o := range outputs {
		sums[""].Add(sums[""], new(big.Int).SetUint64(o.Value))
		for _, a := range o.Assets {
			id := hex.EncodeToString(a.ID)
			if sums[id] == nil {
				sums[id] = new(big.Int)
			}
			sums[id].Add(sums[id], new(big.Int).SetUint64(a.Amount))
		}
	}
	return units(sums)
}

// units returns sums by unit, of which the empty one is lovelace.
func units(sums map[string]*big.Int) []any {
	var ids []string
	for id, n := range sums {
		if id == "" || n.Sign() != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	all := []any{}
	for _, id := range ids {
		unit := id
		if unit == "" {
			unit = "lovelace"
		}
		all = append(all, object{"unit": unit, "quantity": sums[id].String()})
	}
	return all
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// data returns the fields of datum and script of an output.
func (o *naiveOutput) data(m object) object {
	m["data_hash"], m["inline_datum"], m["reference_script_hash"] = orNull(o.details.DatumHash), nil, nil
	if o.details.Datum != nil {
		m["inline_datum"] = o.details.Datum.Raw
	}
	if s := o.details.ScriptRef; s != nil {
		m["reference_script_hash"] = s.Hash
	}
	return m
}

func (o *naiveOutput) text() string { return address.FormatAny(o.address) }

// block returns a block as the API does.
func (n *naive) block(b *naiveBlock) object {
	first := uint64(n.firstSlot(*b.header.Epoch))
	issuer, _ := hex.DecodeString(b.header.IssuerVkey)
	m := object{
		"time": b.Time, "height": b.Height, "hash": b.Hash.String(), "slot": b.header.Slot, "epoch": b.header.Epoch,
		"epoch_slot": b.header.Slot - first, "size": b.header.BodySize, "tx_count": len(b.txs), "output": nil, "fees": nil,
		"previous_block": b.Parent.String(), "next_block": nil, "confirmations": n.tip().Height - b.Height,
		"slot_leader": address.FormatPool(issuer),
	}
	if b.Parent == (model.Hash{}) {
		m["previous_block"] = previewGenesis
	}
	for _, next := range n.blocks {
		if next.Height == b.Height+1 {
			m["next_block"] = next.Hash.String()
		}
	}
	if len(b.txs) > 0 {
		out, fees := new(big.Int), new(big.Int)
		for _, tx := range b.txs {
			for _, o := range tx.created {
				out.Add(out, new(big.Int).SetUint64(o.Value))
			}
			fees.Add(fees, tx.fee())
		}
		m["output"], m["fees"] = out.String(), fees.String()
	}
	return m
}

// firstSlot is the first slot of an epoch of the network.
func (n *naive) firstSlot(epoch uint64) int64 {
	first, _, _ := n.chain.(interface {
		EpochSlots(uint64) (uint64, uint64, bool)
	}).EpochSlots(epoch)
	return int64(first)
}

func lovelaceOf(outputs []*naiveOutput) *big.Int {
	sum := new(big.Int)
	for _, o := range outputs {
		sum.Add(sum, new(big.Int).SetUint64(o.Value))
	}
	return sum
}

func (tx *naiveTx) fee() *big.Int {
	if tx.Fee.Stated {
		return new(big.Int).SetUint64(tx.Fee.Amount)
	}
	return new(big.Int).Sub(lovelaceOf(tx.spent), lovelaceOf(tx.created))
}

func (tx *naiveTx) valid() bool { return tx.d.Valid == nil || *tx.d.Valid }

// deposit returns the amount that the transaction spends beyond its outputs and its stated fee.
func (tx *naiveTx) deposit() string {
	left := new(big.Int).Sub(lovelaceOf(tx.spent), lovelaceOf(tx.created))
	left.Sub(left, tx.fee())
	if tx.valid() {
		for _, w := range tx.d.Withdrawals {
			n, _ := new(big.Int).SetString(w.Amount, 10)
			left.Add(left, n)
		}
	}
	return left.String()
}

// answer returns a transaction as the API does, without the counts of certificates.
func (tx *naiveTx) answer() object {
	mints := map[string]bool{}
	for _, m := range tx.Mints {
		mints[string(m.Asset)] = true
	}
	m := object{
		"hash": tx.Hash.String(), "block": tx.block.Hash.String(), "block_height": tx.block.Height, "block_time": tx.block.Time,
		"slot": tx.block.header.Slot, "index": tx.place, "output_amount": value(tx.created...), "fees": tx.fee().String(),
		"deposit": tx.deposit(), "invalid_before": nil, "invalid_hereafter": nil, "utxo_count": len(tx.spent) + len(tx.created),
		"withdrawal_count": 0, "asset_mint_or_burn_count": len(mints), "redeemer_count": 0, "valid_contract": tx.valid(),
		"treasury_donation": "0",
	}
	if tx.d.ValidFrom != nil {
		m["invalid_before"] = new(big.Int).SetUint64(*tx.d.ValidFrom).String()
	}
	if tx.d.ValidTo != nil {
		m["invalid_hereafter"] = new(big.Int).SetUint64(*tx.d.ValidTo).String()
	}
	if tx.valid() {
		m["withdrawal_count"], m["redeemer_count"] = len(tx.d.Withdrawals), len(tx.d.Redeemers)
	}
	return m
}

// utxos returns the outputs of a transaction as /txs/{hash}/utxos does.
func (n *naive) utxos(tx *naiveTx) object {
	inputs, outputs := []any{}, []any{}
	add := func(o *naiveOutput, reference, collateral bool) {
		in := o.data(object{
			"address": o.text(), "amount": value(o), "tx_hash": o.tx.Hash.String(), "output_index": o.index,
			"reference": reference, "collateral": collateral,
		})
		if !reference {
			in["reference_script_hash"] = nil
		}
		if collateral {
			in["amount"] = in["amount"].([]any)[:1]
		}
		inputs = append(inputs, in)
	}
	for _, o := range tx.spent {
		add(o, false, false)
	}
	referred := [][]model.OutputReference{tx.d.ReferenceInputs, tx.d.Collateral}
	if !tx.valid() { // only its collateral is spent
		referred = nil
	}
	for i, refs := range referred {
		for _, r := range refs {
			hash, _ := hex.DecodeString(r.Tx)
			add(n.at[outpoint{tx: model.Hash(hash), index: uint32(r.Index)}], i == 0, i == 1)
		}
	}
	for _, o := range tx.created {
		out := o.data(object{
			"address": o.text(), "amount": value(o), "output_index": o.index, "collateral": false, "consumed_by_tx": nil,
		})
		if o.spent != nil {
			out["consumed_by_tx"] = o.spent.Hash.String()
		}
		outputs = append(outputs, out)
	}
	if returned := tx.collateralReturn(); returned != nil && tx.valid() {
		outputs = append(outputs, object{
			"address": returned.Address().String(), "output_index": len(tx.created), "collateral": true, "consumed_by_tx": nil,
			"amount":    []any{object{"unit": "lovelace", "quantity": fmt.Sprint(returned.Amount())}},
			"data_hash": nil, "inline_datum": nil, "reference_script_hash": nil,
		})
	}
	return object{"hash": tx.Hash.String(), "inputs": inputs, "outputs": outputs}
}

// collateralReturn returns the output that the transaction creates if its scripts fail, as gouroboros decodes it.
func (tx *naiveTx) collateralReturn() common.TransactionOutput {
	era := uint(tx.block.Header[0])
	if era < ledger.EraBabbage {
		return nil
	}
	theirs, err := gouroboros.NewTransactionFromCbor(era-ledger.EraShelley+gouroboros.TxTypeShelley, tx.Raw)
	if err != nil {
		panic(err)
	}
	return theirs.CollateralReturn()
}
