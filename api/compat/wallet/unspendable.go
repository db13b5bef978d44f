package wallet

import (
	"crypto/sha256"

	"birthmark/core/schema"
	"birthmark/model"
)

// check removes the outputs and transactions of an unspendable script: one that begins with OP_RETURN, or has more than
// 10,000 bytes. A script with an address, or with a spent output, is spendable. Others are read once.
// A script of which nothing is left but transactions that have left the node has none.
func (s *Script) check() error {
	if s.spendable = s.spendable || s.birth == nil && len(s.pool) == 0; s.spendable {
		return nil
	}
	spendable, known := s.v.chain.spendable.Get(s.key)
	if !known {
		var err error
		if known = s.birth != nil; known {
			spendable, err = s.v.isSpendable(*s.birth)
		} else {
			spendable, known, err = s.unconfirmedIsSpendable()
		}
		if err != nil {
			return err
		}
		if known {
			s.v.chain.spendable.Put(s.key, spendable)
		}
	}
	if s.spendable = true; !spendable {
		s.birth, s.pool = nil, nil
	}
	return nil
}

// isSpendable reports whether an output can be spent.
func (v *View) isSpendable(birth model.BirthPk) (bool, error) {
	rows, err := v.q.UtxoRows([]model.UtxoPk{birth.Utxo})
	if err != nil {
		return false, err
	}
	for _, o := range rows[0].Occurrences {
		if o.Index.Name == addressIndex && o.Index.Active.Has(schema.FeatureValues) {
			return true, nil
		}
	}
	outputs, err := v.outputs([]model.UtxoPk{birth.Utxo})
	if err != nil {
		return false, err
	}
	return !v.chain.form.unspendable(outputs[0].Script), nil
}

// KeyOf returns the key of a script.
func KeyOf(script []byte) Key { return sha256.Sum256(script) }
