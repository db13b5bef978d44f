package kupo

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/api/exchange"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// matches lists the outputs of a pattern.
func matches(r *request) answer {
	text := patternArg(r)
	p, ok := readPattern(text)
	f, err := readFilter(r.URL.RawQuery)
	switch {
	case isLabel(text):
		r.Refuse(errLabelPattern)
	case !ok:
		r.Refuse(errPattern)
	case err != nil:
		r.Refuse(err)
	}
	quoted := strings.Contains(r.Request.Header.Get("Accept"), "asset-quantity=string")
	if quoted {
		r.SetType(jsonType + ";asset-quantity=string")
	}
	return func(v *view) (any, error) {
		s, err := v.plan(p, f)
		if err != nil {
			return nil, err
		}
		v.Scripts, s.quoted = s.resolve, quoted
		return exchange.Stream(s.run), nil
	}
}

// search is a prepared list of matches.
type search struct {
	*view
	filter
	all     setops.Intersection // scans that an output must be in; empty: no output matches
	span    setops.Span
	spends  setops.Span // in which an output must be spent, if spentIn
	spentIn bool
	unspent bool // the scans yield unspent outputs only
	shelley bool // outputs of Byron addresses are left out
	quoted  bool // amounts are strings
}

// plan prepares the list of a pattern with a filter.
func (v *view) plan(p pattern, f filter) (s *search, err error) {
	s = &search{view: v, filter: f, shelley: p.shelley}
	if s.span, err = v.between(f.created); err != nil {
		return nil, err
	}
	if s.spentIn = !f.spend.empty(); s.spentIn {
		if s.spends, err = v.between(f.spend); err != nil {
			return nil, err
		}
	}
	first, err := v.Q.NewTxPk(0, int(v.Q.Totals.GenesisTxs)) // outputs before the first block are left out
	if err != nil {
		return nil, err
	}
	s.span.First = max(s.span.First, model.UtxoPk(first))
	for _, part := range []struct {
		tx    *model.Hash
		index *uint32
	}{{p.tx, p.index}, {f.tx, f.index}} {
		if err := s.within(part.tx, part.index); err != nil {
			return nil, err
		}
	}
	for _, part := range []struct {
		index  string
		values [][]byte
	}{
		{utxo.AddressIndex, one(p.address)}, {utxo.PaymentIndex, credentials(p.payment)}, {utxo.StakeIndex, credentials(p.delegation)},
		{utxo.PolicyIndex, one(p.policy)}, {utxo.PolicyIndex, one(f.policy)},
	} {
		if err := s.require(part.index, part.values); err != nil {
			return nil, err
		}
	}
	for _, id := range [][]byte{p.asset, f.asset} {
		if err := s.requireAsset(id); err != nil {
			return nil, err
		}
	}
	if len(s.all) == 0 {
		s.all = append(s.all, s.stream(s.everything))
	}
	return s, nil
}

// nothing makes the list empty.
func (s *search) nothing() { s.span = setops.Span{First: 1, Last: 0} }

// within restricts the list to the outputs of a transaction, or to one of them.
func (s *search) within(tx *model.Hash, index *uint32) error {
	if tx == nil {
		return nil
	}
	found, err := s.Q.TxPks([]model.Hash{*tx})
	if err != nil {
		return err
	}
	if len(found[0]) == 0 {
		s.nothing()
		return nil
	}
	pk := model.UtxoPk(found[0][0])
	first, last := pk, found[0][0].Last()
	if index != nil {
		if first, err = found[0][0].Utxo(int(*index)); err != nil {
			s.nothing()
			return nil
		}
		last = first
	}
	s.span.First, s.span.Last = max(s.span.First, first), min(s.span.Last, last)
	return nil
}

// one returns the list of a value; empty for nil.
func one(value []byte) [][]byte {
	if value == nil {
		return nil
	}
	return [][]byte{value}
}

// credentials returns the stored credentials with a hash; empty for nil.
func credentials(hash []byte) [][]byte {
	if hash == nil {
		return nil
	}
	both := address.Credentials(hash)
	return both[:]
}

// require restricts the list to outputs with one of several values of an index; none: no restriction.
func (s *search) require(index string, values [][]byte) error {
	if len(values) == 0 {
		return nil
	}
	x, err := s.Q.Index(index)
	if err != nil {
		return err
	}
	stored := s.filter.unspent && x.Active.Has(schema.FeatureUnspent)
	var any setops.Union
	for _, value := range values {
		birth, err := s.Q.Birth(x, value)
		if err != nil {
			return err
		}
		if birth == nil {
			continue
		}
		any = append(any, s.stream(func(span setops.Span, descending bool) setops.Outputs {
			if stored {
				return s.Q.StoredUnspent(x, *birth, span, descending)
			}
			return s.Q.Occurrences(x, *birth, span, descending)
		}))
	}
	switch len(any) {
	case 0:
		s.nothing()
	case 1:
		s.all = append(s.all, any[0])
	default:
		s.all = append(s.all, any)
	}
	s.unspent = s.unspent || stored
	return nil
}

// requireAsset restricts the list to outputs with an asset; nil: no restriction.
func (s *search) requireAsset(id []byte) error {
	if id == nil {
		return nil
	}
	_, birth, err := s.Q.Asset(hex.EncodeToString(id))
	if query.UnknownAsset(err) {
		s.nothing()
		return nil
	}
	s.all = append(s.all, s.stream(func(span setops.Span, descending bool) setops.Outputs {
		return s.Q.AssetOccurrences(birth, span, descending)
	}))
	return err
}

// stream returns the outputs of a scan in the span of the list, which must not change afterwards.
func (s *search) stream(scan setops.Scan) setops.Stream {
	return &setops.ScanStream{Scan: scan, Span: s.span, Descending: !s.oldestFirst, Budget: &setops.Budget{Left: math.MaxInt}}
}

// everything yields all outputs in a span.
func (s *search) everything(span setops.Span, descending bool) setops.Outputs {
	from, to := span.Keys(nil)
	return schema.Rows(s.Q.R, schema.FamilyUtxo, from, to, descending, func(key, _ []byte) (model.UtxoPk, error) {
		return model.ParseUtxoPk(key)
	})
}

// Outputs of a list are read in batches that grow from firstBatch to lastBatch.
const (
	firstBatch = 32
	lastBatch  = 512
)

// run yields the matches.
func (s *search) run(yield func(*matchValue, error) bool) {
	if s.span.Empty() {
		return
	}
	var stream setops.Stream = s.all
	if len(s.all) == 1 {
		stream = s.all[0]
	}
	var cut *model.UtxoPk // the budget has no end
	for batch, err := range query.Batches(s.Q, setops.Merged(stream, !s.oldestFirst, &cut), firstBatch, lastBatch) {
		var found []matchValue
		if err == nil {
			found, err = s.matching(batch)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range found {
			if !yield(&found[i], nil) {
				return
			}
		}
	}
}

// matching returns the outputs of a batch that match.
func (s *search) matching(batch []model.UtxoPk) ([]matchValue, error) {
	spenders := make([]*model.InputPk, len(batch))
	if !s.unspent {
		var err error
		if spenders, err = s.Q.SpendersOf(batch); err != nil {
			return nil, err
		}
	}
	var at []model.UtxoPk
	var by []*model.InputPk
	for i, pk := range batch {
		spender := spenders[i]
		switch {
		case spender == nil && (s.spent || s.spentIn), spender != nil && s.filter.unspent:
		case s.spentIn && !s.spends.HasTx(spender.Tx()):
		default:
			at, by = append(at, pk), append(by, spender)
		}
	}
	return s.read(at, by)
}

// read returns outputs with their spenders, nil for an unspent one.
func (s *search) read(pks []model.UtxoPk, spenders []*model.InputPk) ([]matchValue, error) {
	outputs, ids, err := s.Outputs(pks, spenders)
	if err != nil {
		return nil, err
	}
	found := make([]matchValue, 0, len(outputs))
	for i := range outputs {
		o, by := &outputs[i], spenders[i]
		var spent *spentValue
		if by != nil {
			spent = &spentValue{pointValue: pointOf(s.PointAt(by.Height())), Tx: hash(ids[0])}
			ids = ids[1:]
		}
		if s.shelley && o.Owner.Byron {
			continue
		}
		if by != nil {
			if err := s.setSpend(spent, o, *by); err != nil {
				return nil, err
			}
		}
		found = append(found, matchValue{
			TxIndex: s.Q.TxIndex(o.Pk.Tx()), Tx: hash(o.Tx), Index: o.Pk.Index(), Address: o.Owner.Text,
			Value:     valueValue{amount{o.Value, s.quoted}, assets{o.Assets, s.quoted}},
			DatumHash: digits(o.DatumHash), DatumType: datumType(o), ScriptHash: digits(o.ScriptHash),
			Created: pointOf(o.Created), Spent: spent,
		})
		if s.resolve {
			if err := s.resolveHashes(&found[len(found)-1], o); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

func datumType(o *utxo.Output) string {
	switch {
	case o.DatumHash == "":
		return ""
	case o.Inline:
		return "inline"
	}
	return "hash"
}

// resolveHashes adds the datum and the script of an output to its match.
func (s *search) resolveHashes(m *matchValue, o *utxo.Output) error {
	m.datumValue, m.resolvedScript = &datumValue{o.Datum}, &resolvedScript{scriptOf(o.Script)}
	if o.DatumHash == "" || o.Inline {
		return nil
	}
	hash, err := hex.DecodeString(o.DatumHash)
	if err != nil {
		return err
	}
	m.Datum, err = s.FindDatum(hash)
	return err
}

// setSpend sets the position of the input and its redeemer.
func (s *search) setSpend(spent *spentValue, o *utxo.Output, by model.InputPk) error {
	t, err := s.Reader.Tx(by.Tx())
	if err != nil {
		return err
	}
	if t.Body == nil { // Byron: its inputs are a list, and there are no scripts
		spent.Input = by.Index()
		return nil
	}
	spent.Input, err = t.InputIndex(model.Input{Tx: o.Tx, Index: uint32(o.Pk.Index())})
	if err != nil {
		return fmt.Errorf("raw transaction %v: %w", by.Tx(), err)
	}
	if t.Failed {
		return nil
	}
	for _, r := range t.Witnessed().Redeemers {
		if r.Purpose == ledger.PurposeSpend && r.Index == uint64(spent.Input) {
			spent.Redeemer = r.Data
		}
	}
	return nil
}
