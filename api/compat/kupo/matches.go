package kupo

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// matches lists the outputs of a pattern.
func (q *request) matches(args []string) error {
	text := anything
	switch len(args) {
	case 0:
	case 1, 2:
		text = strings.Join(args, "/")
	default:
		return errPattern
	}
	p, ok := readPattern(text)
	if isLabel(text) {
		return errLabelPattern
	} else if !ok {
		return errPattern
	}
	f, err := readFilter(q.r.URL.RawQuery)
	if err != nil {
		return err
	}
	s, err := q.plan(p, f)
	if err != nil {
		return err
	}
	if strings.Contains(q.r.Header.Get("Accept"), "asset-quantity=string") {
		s.quoted = true
		q.w.Header()["Content-Type"] = []string{jsonType + ";asset-quantity=string"}
	}
	q.Scripts = s.resolve
	q.add("[")
	if err := s.run(); err != nil {
		return err
	}
	q.add("]")
	return nil
}

// search is a prepared list of matches.
type search struct {
	*request
	filter
	all     setops.Intersection // scans that an output must be in; empty: no output matches
	span    setops.Span
	spends  setops.Span // in which an output must be spent, if spentIn
	spentIn bool
	unspent bool // the scans yield unspent outputs only
	shelley bool // outputs of Byron addresses are left out
	quoted  bool // amounts are strings
	count   int
}

// plan prepares the list of a pattern with a filter.
func (q *request) plan(p pattern, f filter) (s *search, err error) {
	s = &search{request: q, filter: f, shelley: p.shelley}
	if s.span, err = q.span(f.created); err != nil {
		return nil, err
	}
	if s.spentIn = !f.spend.empty(); s.spentIn {
		if s.spends, err = q.span(f.spend); err != nil {
			return nil, err
		}
	}
	first, err := model.NewTxPk(0, int(q.Q.Totals.GenesisTxs)) // outputs before the first block are left out
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
	first, last := pk, pk|model.MaxIndex
	if index != nil {
		if *index > model.MaxIndex {
			s.nothing()
			return nil
		}
		first |= model.UtxoPk(*index)
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

// run writes the matches.
func (s *search) run() error {
	if s.span.Empty() {
		return nil
	}
	var stream setops.Stream = s.all
	if len(s.all) == 1 {
		stream = s.all[0]
	}
	var cut *model.UtxoPk // the budget has no end
	for batch, err := range query.Batches(s.Q, setops.Merged(stream, !s.oldestFirst, &cut), firstBatch, lastBatch) {
		if err != nil {
			return err
		}
		if err := s.write(batch); err != nil {
			return err
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

// write writes the outputs of a batch that match.
func (s *search) write(batch []model.UtxoPk) error {
	spenders := make([]*model.InputPk, len(batch))
	if !s.unspent {
		var err error
		if spenders, err = s.Q.SpendersOf(batch); err != nil {
			return err
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
	outputs, err := s.read(at, by)
	if err != nil {
		return err
	}
	for i := range outputs {
		if s.shelley && outputs[i].Owner.Byron {
			continue
		}
		if s.count++; s.count > 1 {
			s.add(",")
		}
		s.addMatch(&outputs[i])
	}
	return nil
}

// patterns answers that every output is indexed. Kupo adds patterns; here nothing changes.
func (q *request) patterns(args []string) error {
	if _, err := patternOf(args); err != nil {
		return err
	}
	q.add(`["*"]`)
	return nil
}

// deletePattern answers that no pattern other than * was deleted, because there is no other one.
func (q *request) deletePattern(args []string) error {
	text, err := patternOf(args)
	if err == nil && text == anything {
		err = errDelete
	}
	if err != nil {
		return err
	}
	q.add(`{"deleted":0}`)
	return nil
}

// deleteMatches refuses to delete, as Kupo does while a pattern of its settings overlaps: * overlaps every pattern.
func (q *request) deleteMatches(args []string) error {
	_, err := patternOf(args)
	if err == nil {
		err = errDelete
	}
	return err
}

// patternOf returns the pattern of a path, * for an empty one. It can be one of metadata labels.
func patternOf(args []string) (text string, err error) {
	text = strings.Join(args, "/")
	if text == "" {
		text = anything
	}
	if _, ok := readPattern(text); !ok && !isLabel(text) {
		err = errPattern
	}
	return text, err
}

// isLabel reports whether a pattern is one of a metadata label: {721}.
func isLabel(text string) bool {
	digits, opened := strings.CutPrefix(text, "{")
	digits, closed := strings.CutSuffix(digits, "}")
	_, err := strconv.ParseUint(digits, 10, 64)
	return opened && closed && err == nil
}
