package query

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
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
	io, err := q.readIO(pks, most)
	if err != nil {
		return nil, err
	}
	l, all := q.NewLoad(), slices.Concat(io.spends, io.created)
	var raws [][]byte
	if q.Layout.Raw {
		_, txs := q.ofBlocks(pks)
		l.Rows(schema.FamilyRaw, schema.Keys(txs), func(rows [][]byte) error { raws = rows; return nil })
	}
	o := q.loadOutputs(l, all, io.rows, len(io.spends))
	mints := make([]mintLoad, len(pks))
	both, err := q.outputAnswers(l, o, func() {
		if q.Totals.Rows[schema.FamilyAssetSupply] > 0 {
			q.loadMints(l, pks, io, o, mints)
		}
	})
	if err != nil {
		return nil, err
	}
	inputs, outputs := both[:len(io.spends)], both[len(io.spends):]
	answers := make([]TxAnswer, len(pks))
	var from [2]int
	for i, pk := range pks {
		a, to := &answers[i], io.ends[i]
		*a = TxAnswer{
			Chain: q.Chain.Name(), Hash: io.hashes[i], Height: uint32(pk.Height()), Index: q.TxIndex(pk),
			Inputs: make([]InputAnswer, 0, to[0]-from[0]), Outputs: outputs[from[1]:to[1]:to[1]],
		}
		if block, ok := io.blocks[pk.Height()]; ok && !q.IsGenesis(pk) {
			a.BlockHash, a.Time, a.Confirmations = q.Chain.FormatHash(block.Hash), block.Time, q.confirmations(pk.Height())
		}
		for n, o := range inputs[from[0]:to[0]] {
			a.Inputs = append(a.Inputs, InputAnswer{Index: n, Output: o})
		}
		a.Coinbase = q.Traits.Coinbase && len(a.Inputs) == 0 && !q.IsGenesis(pk)
		a.Fee = q.feeOf(io.fees[i], inputs[from[0]:to[0]], a.Outputs)
		if a.Mints, err = mints[i].answers(); err != nil {
			return nil, err
		}
		from = to
	}
	return answers, q.setDetails(answers, pks, raws)
}

// txIO is transactions with the outputs that they spend and create.
type txIO struct {
	hashes          []string
	fees            []model.Fee
	blocks          map[model.HeightPk]schema.BlockRow
	spends, created []model.UtxoPk
	rows            [][]byte // of created
	ends            [][2]int // ends of each transaction's part of spends and of created
}

// Batches of transactions are read in parts, so that rows beyond the limit do not fill the memory.
const (
	txsPerRead     = 128
	entriesPerRead = 1024 // a transaction with more inputs or outputs is read by itself
)

// readIO reads transactions that exist. most is that of txAnswers.
func (q *Query) readIO(pks []model.TxPk, most int) (*txIO, error) {
	l, io := q.NewLoad(), &txIO{hashes: make([]string, len(pks)), fees: make([]model.Fee, len(pks)), ends: make([][2]int, len(pks))}
	l.Rows(schema.FamilyTxHash, schema.Keys(pks), func(rows [][]byte) error {
		for i, pk := range pks {
			hash, fee, err := schema.ParseTxHashRow(rows[i])
			if err != nil {
				return fmt.Errorf("transaction %v: %w", pk, err)
			}
			io.hashes[i], io.fees[i] = q.Chain.FormatHash(hash), fee
			q.CacheID(pk, hash)
		}
		return nil
	})
	io.blocks = l.Blocks(pks)
	for first := 0; first < len(pks); first += txsPerRead {
		part := pks[first:min(first+txsPerRead, len(pks))]
		ranges := make([]storage.Range, len(part))
		for i, pk := range part {
			end := model.TxPk(uint64(pk) + model.MaxIndex + 1)
			ranges[i] = storage.Range{From: pk.AppendTo(nil), To: end.AppendTo(nil)}
			if most > 0 {
				ranges[i].Limit = entriesPerRead
			}
		}
		var spent, created [][]storage.KV
		l.Ranges(schema.FamilySpentUtxo, ranges, func(rows [][]storage.KV) error { spent = rows; return nil })
		l.Ranges(schema.FamilyUtxo, ranges, func(rows [][]storage.KV) error { created = rows; return nil })
		if err := l.Read(); err != nil {
			return nil, err
		}
		for i, pk := range part {
			if err := q.addIO(io, pk, spent[i], created[i], ranges[i].Limit); err != nil {
				return nil, err
			}
			io.ends[first+i] = [2]int{len(io.spends), len(io.created)}
			if most > 0 && len(io.spends)+len(io.created) > most {
				return nil, model.Errorf(model.Usage, "too_many",
					"txs: the first %d have more than %d inputs and outputs: request fewer at once", first+i+1, most)
			}
		}
	}
	return io, nil
}

// addIO adds the rows of a transaction, which are incomplete if there are limit of a family.
func (q *Query) addIO(io *txIO, tx model.TxPk, spent, created []storage.KV, limit int) (err error) {
	if limit > 0 && len(spent) == limit {
		spends, err := q.SpendsOf(tx)
		if err != nil {
			return err
		}
		io.spends, spent = append(io.spends, spends...), nil
	}
	for _, kv := range spent {
		row, err := schema.ParseSpendRow(kv.Key, kv.Value)
		if err != nil {
			return err
		}
		io.spends = append(io.spends, row.Output)
	}
	if limit > 0 && len(created) == limit {
		io.created, io.rows, err = q.outputsOf(tx, io.created, io.rows)
		return err
	}
	for _, kv := range created {
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		io.created, io.rows = append(io.created, pk), append(io.rows, kv.Value)
	}
	return nil
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

// SpendsOf returns the outputs that a transaction spends, in the order of its inputs.
func (q *Query) SpendsOf(tx model.TxPk) (spends []model.UtxoPk, err error) {
	end := model.TxPk(uint64(tx) + model.MaxIndex + 1)
	rows := schema.Rows(q.R, schema.FamilySpentUtxo, tx.AppendTo(nil), end.AppendTo(nil), false, schema.ParseSpendRow)
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		spends = append(spends, row.Output)
	}
	return spends, nil
}

// outputsOf appends the outputs of a transaction to created and their rows to rows, in order.
func (q *Query) outputsOf(tx model.TxPk, created []model.UtxoPk, rows [][]byte) ([]model.UtxoPk, [][]byte, error) {
	end := model.TxPk(uint64(tx) + model.MaxIndex + 1)
	for kv, err := range q.R.Scan(schema.FamilyUtxo, tx.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return nil, nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, nil, err
		}
		created, rows = append(created, pk), append(rows, bytes.Clone(kv.Value))
	}
	return created, rows, nil
}

// mintLoad is the amounts that a transaction minted and burned, for the assets of the outputs that it spends and
// creates, in the order of first occurrence.
type mintLoad struct {
	keys, rows [][]byte // of each asset; a row is nil if nothing was minted or burned
	ids        []string
}

// loadMints adds to l what transactions minted and burned.
func (q *Query) loadMints(l *pointers.Load, pks []model.TxPk, io *txIO, o *outputLoad, mints []mintLoad) {
	if o.entries == nil {
		return
	}
	var from [2]int
	spent := len(io.spends)
	for i, pk := range pks {
		m, to := &mints[i], io.ends[i]
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
		mints = append(mints, MintAnswer{m.ids[i], row.Amount.String()})
	}
	return mints, nil
}

// OutputsOf returns the outputs of a transaction, in order.
func (q *Query) OutputsOf(tx model.TxPk) ([]model.UtxoPk, error) {
	pks, _, err := q.outputsOf(tx, nil, nil)
	return pks, err
}
