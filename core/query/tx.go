package query

import (
	"context"
	"math/big"
	"slices"
	"strconv"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// Tx returns one transaction: the newest if several have the hash.
func (qs Queries) Tx(ctx context.Context, hash string) (*TxAnswer, error) {
	return read(ctx, qs, func(q *Query) (*TxAnswer, error) {
		pk, err := q.tx(hash)
		if err != nil {
			return nil, err
		}
		txs, err := q.txAnswers([]model.TxPk{pk}, 0)
		return only(txs, err)
	})
}

// txAnswers returns transactions that exist, and resolves their inputs and outputs together. More than most inputs
// and outputs are a Usage error (too_many); 0: no limit.
func (q *Query) txAnswers(pks []model.TxPk, most int) ([]TxAnswer, error) {
	io, err := q.ReadIO(pks, most)
	if err != nil {
		return nil, err
	}
	l, all := q.NewLoad(), slices.Concat(io.Spends, io.Created)
	var raws [][]byte
	if q.Layout.Raw {
		_, txs := q.ofBlocks(pks)
		l.Rows(schema.FamilyRaw, schema.Keys(txs), func(rows [][]byte) error { raws = rows; return nil })
	}
	o := q.loadOutputs(l, all, io.Rows, len(io.Spends), true)
	mints := make([]mintLoad, len(pks))
	both, err := q.outputAnswers(l, o, func() {
		if q.Totals.Rows[schema.FamilyAssetSupply] > 0 {
			q.loadMints(l, pks, io, o, mints)
		}
	})
	if err != nil {
		return nil, err
	}
	q.nameAssets(both)
	inputs, outputs := both[:len(io.Spends)], both[len(io.Spends):]
	answers := make([]TxAnswer, len(pks))
	var from [2]int
	for i, pk := range pks {
		a, to := &answers[i], io.Ends[i]
		*a = TxAnswer{
			Chain: q.Chain.Name(), Hash: io.Hashes[i], Height: uint32(pk.Height()), Index: q.TxIndex(pk),
			Inputs: make([]InputAnswer, 0, to[0]-from[0]), Outputs: outputs[from[1]:to[1]:to[1]],
		}
		if block, ok := io.Blocks[pk.Height()]; ok && !q.IsGenesis(pk) {
			a.BlockHash, a.Time, a.Confirmations = q.Chain.FormatHash(block.Hash), block.Time, q.confirmations(pk.Height())
		}
		for n, o := range inputs[from[0]:to[0]] {
			a.Inputs = append(a.Inputs, InputAnswer{Index: n, Output: o})
		}
		a.Coinbase = q.Traits.Coinbase && len(a.Inputs) == 0 && a.Index == 0 && !q.IsGenesis(pk)
		a.Fee = q.feeOf(io.Fees[i], inputs[from[0]:to[0]], a.Outputs)
		if a.Mints, err = mints[i].answers(); err != nil {
			return nil, err
		}
		q.nameMints(a.Mints)
		from = to
	}
	return answers, q.setDetails(answers, pks, raws)
}

// feeOf returns the fee of a transaction: the stored fee, else inputs minus outputs. It is empty if there is no fee
// or it is unknown.
func (q *Query) feeOf(stated model.Fee, inputs, outputs []OutputAnswer) string {
	if stated.Stated {
		return strconv.FormatUint(stated.Amount, 10)
	}
	if len(inputs) > 0 && !q.Traits.FeeOutputs {
		if left := new(big.Int).Sub(sum(inputs), sum(outputs)); left.Sign() >= 0 {
			return left.String()
		}
	}
	return ""
}

func sum(outputs []OutputAnswer) *big.Int {
	total, v := new(big.Int), new(big.Int)
	for i := range outputs {
		v.SetString(outputs[i].Value, 10)
		total.Add(total, v)
	}
	return total
}

// mintLoad is the amounts that a transaction minted and burned, for the assets of the outputs that it spends and
// creates, in the order of first occurrence.
type mintLoad struct {
	keys, rows [][]byte // of each asset; a row is nil if nothing was minted or burned
	ids        []string
}

// loadMints adds to l what transactions minted and burned.
func (q *Query) loadMints(l *pointers.Load, pks []model.TxPk, io *pointers.TxIO, o *outputLoad, mints []mintLoad) {
	if o.entries == nil {
		return
	}
	var from [2]int
	spent := len(io.Spends)
	for i, pk := range pks {
		m, to := &mints[i], io.Ends[i]
		births := pointers.AssetsIn(slices.Concat(o.entries[from[0]:to[0]], o.entries[spent+from[1]:spent+to[1]]))
		m.keys, m.ids = make([][]byte, len(births)), l.AssetIDs(births)
		for n, b := range births {
			m.keys[n] = schema.AppendSupplyKey(nil, b, pk)
		}
		l.Found(schema.FamilyAssetSupply, m.keys, func(rows [][]byte) error { m.rows = rows; return nil })
		from = to
	}
}

func (m *mintLoad) answers() (mints []MintAnswer, err error) {
	for i, b := range m.rows {
		if b == nil {
			continue
		}
		row, err := schema.ParseSupplyRow(m.keys[i], b)
		if err != nil {
			return nil, err
		}
		for _, e := range supplyEvents(&row) {
			mints = append(mints, MintAnswer{Asset: m.ids[i], Amount: e.String()})
		}
	}
	return mints, nil
}
