package pending

import (
	"fmt"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// tokenState is the state before an unconfirmed transaction: that of the tip and of its ancestors. It implements
// [model.TokenState].
type tokenState struct {
	*tokens
	q         *query.Query
	pool      *Pool
	tx        *model.TokenTx
	inputs    []tokenInput
	walked    bool
	ancestors []*derived // that create assets or change supplies
}

// effects returns the ancestors that change the state.
func (s *tokenState) effects() []*derived {
	if s.walked {
		return s.ancestors
	}
	s.walked = true
	found := map[*Tx]bool{}
	var stack []*Tx
	visit := func(t *Tx) {
		if t != nil && !found[t] {
			found[t] = true
			stack = append(stack, t)
		}
	}
	for i := range s.inputs {
		visit(s.inputs[i].parent)
	}
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if d := t.tokens; d != nil && len(d.births)+len(d.supplies) > 0 {
			s.ancestors = append(s.ancestors, d)
		}
		for i, pk := range t.pks {
			if pk == unconfirmed {
				visit(s.pool.Tx(t.inputs[i].Outpoint.Tx))
			}
		}
	}
	return s.ancestors
}

// Token implements [model.TokenState].
func (s *tokenState) Token(birth model.AssetBirthPk) (*model.Token, error) {
	if err := s.readState(s.q, []model.AssetBirthPk{birth}); err != nil {
		return nil, err
	}
	confirmed, result := s.state[birth], model.Token{}
	if confirmed != nil {
		result = *confirmed
	}
	exists := confirmed != nil
	for _, d := range s.effects() {
		for i := range d.births {
			if d.births[i].Asset != birth {
				continue
			}
			info, err := s.rules.Parse(d.births[i].Info)
			if err != nil {
				return nil, err
			}
			result.Info, exists = info, true
		}
		for i := range d.supplies {
			if d.supplies[i].Asset == birth && d.supplies[i].Mints {
				result.Mints++
			}
		}
	}
	if !exists {
		return nil, nil
	}
	return &result, nil
}

// Named implements [model.TokenState].
func (s *tokenState) Named(name []byte) (model.AssetBirthPk, bool, error) {
	if _, err := s.readNames(s.q, [][]byte{name}); err != nil {
		return model.AssetBirthPk{}, false, err
	}
	if birth := s.names[string(name)]; birth != nil {
		return *birth, true, nil
	}
	for _, d := range s.effects() {
		for i := range d.births {
			if string(d.births[i].Name) == string(name) {
				return d.births[i].Asset, true, nil
			}
		}
	}
	return model.AssetBirthPk{}, false, nil
}

// Count implements [model.TokenState].
func (s *tokenState) Count() (uint64, error) {
	n := s.q.Totals.Rows[schema.FamilyAssetID]
	for _, d := range s.effects() {
		n += uint64(len(d.births))
	}
	return n, nil
}

// Value implements [model.TokenState]. Rules ask for the outputs that the transaction spends.
func (s *tokenState) Value(utxo model.UtxoPk) ([]byte, error) {
	for i := range s.tx.Spent {
		if s.tx.Spent[i].Utxo == utxo {
			return s.inputs[i].holder, nil
		}
	}
	return nil, fmt.Errorf("the transaction does not spend the output %v", utxo)
}
