package pointers

import (
	"math/big"

	"birthmark/core/schema"
	"birthmark/model"
)

// TxSums are the sums of a transaction.
type TxSums struct {
	Inputs, Outputs int
	In, Out         big.Int  // values of the inputs and of the outputs
	Fee             *big.Int // nil: none, or unknown
	FeeUnknown      bool     // there is a fee, but its amount is unknown

	stated model.Fee
}

// BlockSums returns the sums of the transactions of the block at h, in order. It reads the outputs that the block
// creates and spends. pass receives the number of rows of each; its error ends the reading.
func (q *Reader) BlockSums(h model.HeightPk, pass func(rows int) error) ([]TxSums, error) {
	pks, err := q.blockTxs(h)
	if err != nil || len(pks) == 0 {
		return nil, err
	}
	s := &blockSums{Reader: q, from: pks[0], end: q.FirstPk(h + 1), txs: make([]TxSums, len(pks))}
	for _, step := range []func() (rows int, err error){s.addFees, s.addOutputs, s.addInputs} {
		rows, err := step()
		if err == nil {
			err = pass(rows)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.addSpent(); err != nil {
		return nil, err
	}
	for i := range s.txs {
		s.txs[i].setFee(q.Traits.FeeOutputs)
	}
	return s.txs, nil
}

// blockSums sums the transactions with from <= pointer < end.
type blockSums struct {
	*Reader
	from, end model.TxPk
	txs       []TxSums
	spent     []model.UtxoPk
	by        []*TxSums // that spend them
}

// of returns the sums of a transaction.
func (s *blockSums) of(pk model.TxPk) *TxSums { return &s.txs[pk.TxIndex()-s.from.TxIndex()] }

// addFees reads the fees that transactions state.
func (s *blockSums) addFees() (rows int, err error) {
	for kv, err := range s.R.Scan(schema.FamilyTxHash, s.from.AppendTo(nil), s.end.AppendTo(nil), false) {
		if err != nil {
			return 0, err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return 0, err
		}
		if _, s.of(pk).stated, err = schema.ParseTxHashRow(kv.Value); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func (s *blockSums) addOutputs() (rows int, err error) {
	v := new(big.Int)
	for kv, err := range s.R.Scan(schema.FamilyUtxo, s.from.AppendTo(nil), s.end.AppendTo(nil), false) {
		if err != nil {
			return 0, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return 0, err
		}
		amount, err := schema.ParseUtxoValue(kv.Value)
		if err != nil {
			return 0, err
		}
		t := s.of(pk.Tx())
		t.Out.Add(&t.Out, v.SetUint64(amount))
		t.Outputs++
		rows++
	}
	return rows, nil
}

// addInputs reads which outputs the inputs spend.
func (s *blockSums) addInputs() (rows int, err error) {
	all := schema.Rows(s.R, schema.FamilySpentUtxo, s.from.AppendTo(nil), s.end.AppendTo(nil), false, schema.ParseSpendRow)
	for row, err := range all {
		if err != nil {
			return 0, err
		}
		t := s.of(row.Input.Tx())
		t.Inputs++
		s.spent, s.by = append(s.spent, row.Output), append(s.by, t)
	}
	return len(s.spent), nil
}

// addSpent adds the values of the inputs.
func (s *blockSums) addSpent() error {
	amounts, err := s.Amounts(s.spent)
	v := new(big.Int)
	for i, amount := range amounts {
		s.by[i].In.Add(&s.by[i].In, v.SetUint64(amount))
	}
	return err
}

// setFee sets the fee: the stated fee, else inputs minus outputs unless fees are outputs.
func (t *TxSums) setFee(feeOutputs bool) {
	switch left := new(big.Int).Sub(&t.In, &t.Out); {
	case t.stated.Stated:
		t.Fee = left.SetUint64(t.stated.Amount)
	case t.Inputs == 0:
	case feeOutputs || left.Sign() < 0:
		t.FeeUnknown = true
	default:
		t.Fee = left
	}
}
