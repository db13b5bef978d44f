package kupo

import (
	"encoding/hex"
	"fmt"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// output is an output with the fields of a match.
type output struct {
	utxo.Output
	spend *spend // nil: unspent
}

// spend is the input that spends an output.
type spend struct {
	at       utxo.Point
	tx       model.Hash
	index    int // of the input in the sorted inputs
	redeemer []byte
}

// read returns outputs with their spenders, nil for an unspent one.
func (s *search) read(pks []model.UtxoPk, spenders []*model.InputPk) ([]output, error) {
	found, ids, err := s.Outputs(pks, spenders)
	if err != nil {
		return nil, err
	}
	outputs := make([]output, len(found))
	for i := range found {
		o := &outputs[i]
		o.Output = found[i]
		if s.resolve && o.DatumHash != "" && !o.Inline {
			hash, err := hex.DecodeString(o.DatumHash)
			if err != nil {
				return nil, err
			}
			if o.Datum, err = s.FindDatum(hash); err != nil {
				return nil, err
			}
		}
		if by := spenders[i]; by != nil {
			o.spend = &spend{at: s.PointAt(by.Height()), tx: ids[0]}
			ids = ids[1:]
			if err := s.setSpend(o, *by); err != nil {
				return nil, err
			}
		}
	}
	return outputs, nil
}

// setSpend sets the position of the input and its redeemer.
func (s *search) setSpend(o *output, by model.InputPk) error {
	t, err := s.Reader.Tx(by.Tx())
	if err != nil {
		return err
	}
	if t.Body == nil { // Byron: its inputs are a list, and there are no scripts
		o.spend.index = by.Index()
		return nil
	}
	o.spend.index, err = t.InputIndex(model.Input{Tx: o.Tx, Index: uint32(o.Pk.Index())})
	if err != nil {
		return fmt.Errorf("raw transaction %v: %w", by.Tx(), err)
	}
	if t.Failed {
		return nil
	}
	for _, r := range t.Witnessed().Redeemers {
		if r.Purpose == ledger.PurposeSpend && r.Index == uint64(o.spend.index) {
			o.spend.redeemer = r.Data
		}
	}
	return nil
}

// addMatch appends an output.
func (s *search) addMatch(o *output) {
	s.add(`{"transaction_index":`)
	s.addUint(uint64(s.Q.TxIndex(o.Pk.Tx())))
	s.add(`,"transaction_id":"`, o.Tx.String(), `","output_index":`)
	s.addUint(uint64(o.Pk.Index()))
	s.add(`,"address":"`, o.Owner.Text, `","value":{"coins":`)
	s.addAmount(o.Value)
	s.add(`,"assets":{`)
	for i, a := range o.Assets {
		if i > 0 {
			s.add(",")
		}
		s.add(`"`, a.ID[:2*address.PolicySize])
		if name := a.ID[2*address.PolicySize:]; name != "" {
			s.add(".", name)
		}
		s.add(`":`)
		s.addAmount(a.Amount)
	}
	s.add(`}},"datum_hash":`)
	s.addDigits(o.DatumHash)
	switch {
	case o.DatumHash == "":
	case o.Inline:
		s.add(`,"datum_type":"inline"`)
	default:
		s.add(`,"datum_type":"hash"`)
	}
	if s.resolve {
		s.add(`,"datum":`)
		s.addHex(o.Datum)
	}
	s.add(`,"script_hash":`)
	s.addDigits(o.ScriptHash)
	if s.resolve {
		s.add(`,"script":`)
		s.addScript(o.Script)
	}
	s.add(`,"created_at":`)
	s.addPoint(o.Created)
	s.add(`},"spent_at":`)
	if o.spend == nil {
		s.add("null}")
		return
	}
	s.addPoint(o.spend.at)
	s.add(`,"transaction_id":"`, o.spend.tx.String(), `","input_index":`)
	s.addUint(uint64(o.spend.index))
	s.add(`,"redeemer":`)
	s.addHex(o.spend.redeemer)
	s.add("}}")
}

func (s *search) addAmount(n uint64) {
	if s.quoted {
		s.add(`"`)
		s.addUint(n)
		s.add(`"`)
		return
	}
	s.addUint(n)
}

// addDigits appends hex digits, null for none.
func (q *request) addDigits(digits string) {
	if digits == "" {
		q.add("null")
		return
	}
	q.add(`"`, digits, `"`)
}

// addHex appends the hex digits of bytes, null for nil.
func (q *request) addHex(b []byte) {
	if b == nil {
		q.add("null")
		return
	}
	q.add(`"`)
	q.out = hex.AppendEncode(q.out, b)
	q.add(`"`)
}

// addScript appends a script, null for nil.
func (q *request) addScript(s *ledger.Script) {
	if s == nil {
		q.add("null")
		return
	}
	q.add(`{"language":"`, strings.Replace(s.LanguageName(), "_", ":", 1), `","script":"`)
	q.out = hex.AppendEncode(q.out, s.Code)
	q.add(`"}`)
}
