package onesat

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"birthmark/chains/bitcoin/block"
	sat "birthmark/chains/bitcoinsv/onesat"
	"birthmark/core/query"
	"birthmark/core/query/pointers"
	"birthmark/core/query/setops"
	"birthmark/model"
)

// defaultLimit is the number of outputs of a search without limit.
const defaultLimit = 100

// listKey is the key of all listings.
const listKey = "list"

// search selects outputs, in the order of scores.
type search struct {
	from, to *float64 // scores: the first one, and the one after the last
	limit    int      // 0: none
	reverse  bool
	unspent  bool
}

// searchOf reads the parameters of a search.
func searchOf(r *request, limit int) search {
	c := search{limit: limit}
	number := func(name string) *float64 {
		f, err := strconv.ParseFloat(r.Param(name), 64)
		if err != nil || f == 0 || math.IsNaN(f) {
			return nil
		}
		return &f
	}
	c.from, c.to = number("from"), number("to")
	if n, err := strconv.ParseUint(r.Param("limit"), 10, 31); err == nil {
		c.limit = int(n)
	}
	c.reverse, _ = strconv.ParseBool(r.Param("rev"))
	c.unspent, _ = strconv.ParseBool(r.Param("unspent"))
	return c
}

// span returns the outputs from one score on, up to and including another.
func (v *view) span(c search) (setops.Span, error) {
	all := setops.Span{First: 0, Last: v.Query().LastPk(v.Tip.Height)}
	if v.Tip.IsOrigin() {
		return setops.Span{First: 1}, nil
	}
	if c.from != nil && *c.from > 0 {
		tx, above, err := v.atScore(*c.from)
		if err != nil {
			return all, err
		}
		if above {
			return setops.Span{First: 1}, nil
		}
		first, err := tx.Utxo(0)
		if err != nil {
			return all, err
		}
		all.First = first
	}
	if c.to != nil {
		if *c.to < 0 {
			return setops.Span{First: 1}, nil
		}
		tx, above, err := v.atScore(*c.to)
		if err != nil || above {
			return all, err
		}
		_, _, most := v.Query().Traits.Pointers.Limits()
		last, err := tx.Utxo(most)
		if err != nil {
			return all, err
		}
		all.Last = min(all.Last, last)
	}
	return all, nil
}

// atScore returns the transaction with a score, which need not exist; above: it is after the tip.
func (v *view) atScore(s float64) (tx model.TxPk, above bool, err error) {
	height, part := math.Modf(s)
	if height > float64(v.Tip.Height) {
		return 0, true, nil
	}
	q := v.Query()
	_, most, _ := q.Traits.Pointers.Limits()
	tx, err = q.Traits.Pointers.Tx(model.HeightPk(height), min(int(math.Round(part*1e9)), most))
	return tx, false, err
}

// lookup is a resolved key: outputs that are in all lists.
type lookup struct {
	lists []setops.Scan
	plain bool // only outputs without a contract
}

// resolve returns the lookup of a key; ok is false if no output has it.
func (v *view) resolve(key string, unspent bool) (l lookup, ok bool, err error) {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "z:"), "ev:")
	name, rest, _ := strings.Cut(key, ":")
	add := func(scan setops.Scan, found bool, failed error) bool {
		l.lists, err = append(l.lists, scan), failed
		return found && failed == nil
	}
	value := func(index, text string) bool { return add(v.scanValue(index, text, unspent)) }
	asset := func(id string) bool { return add(v.scanAsset(id)) }
	parts := strings.Split(rest, ":")
	switch name {
	case "txid":
		return lookup{lists: []setops.Scan{v.scanTx(rest)}}, true, nil
	case "own":
		ok = value(addressIndex, rest)
	case "id":
		ok = asset(rest)
	case "tp":
		ok = asset(strings.TrimPrefix(rest, "tm_"))
	case "sym":
		ok = value(symbolIndex, rest)
	case "type":
		ok = value(typeIndex, rest)
	case "parent":
		ok = value(parentIndex, strings.Replace(rest, ".", "_", 1))
	case string(sat.PayKey), string(sat.Cosign):
		if len(parts) == 2 {
			ok = value(addressIndex, parts[0]) && asset(parts[1])
		}
		if name == string(sat.Cosign) {
			ok = ok && value(contractIndex, name)
		}
		l.plain = name == string(sat.PayKey)
	case string(sat.Listing), string(sat.Mining), string(sat.Pow20):
		ok = value(contractIndex, name)
		if rest != "" {
			ok = ok && asset(parts[len(parts)-1])
		}
		if len(parts) == 2 {
			ok = ok && value(addressIndex, parts[0])
		}
	}
	return l, ok, err
}

// scanValue returns the outputs with a value of an index; found is false if there are none.
func (v *view) scanValue(index, text string, unspent bool) (scan setops.Scan, found bool, err error) {
	q := v.Query()
	x := q.Active(index)
	if x == nil {
		return nil, false, model.Errorf(model.Refused, "missing_index", "the API of 1sat-stack needs index %s: run birthmark index add %[1]s", index)
	}
	value, err := x.Parse(text)
	if err != nil {
		return nil, false, nil
	}
	birth, err := q.Birth(x, value)
	if err != nil || birth == nil {
		return nil, false, err
	}
	of := *birth
	if unspent && x.Active.Has(features) {
		return func(s setops.Span, descending bool) setops.Outputs { return q.StoredUnspent(x, of, s, descending) }, true, nil
	}
	return func(s setops.Span, descending bool) setops.Outputs { return q.Occurrences(x, of, s, descending) }, true, nil
}

// scanAsset returns the outputs with a token; found is false if there are none.
func (v *view) scanAsset(id string) (scan setops.Scan, found bool, err error) {
	birth, _, err := v.token(id)
	if err != nil || birth == nil {
		return nil, false, err
	}
	of := *birth
	return func(s setops.Span, descending bool) setops.Outputs {
		return v.Query().AssetOccurrences(of, s, descending)
	}, true, nil
}

// scanTx returns the outputs of a transaction.
func (v *view) scanTx(text string) setops.Scan {
	return func(s setops.Span, descending bool) setops.Outputs {
		return func(yield func(model.UtxoPk, error) bool) {
			id, ok := block.ParseHash(text)
			if !ok {
				return
			}
			pks, err := v.Query().TxPks([]model.Hash{id})
			var outputs []model.UtxoPk
			if err == nil && len(pks[0]) > 0 {
				outputs, err = v.Query().OutputsOf(pks[0][0])
			}
			if err != nil {
				yield(0, err)
				return
			}
			for i := range outputs {
				pk := outputs[i]
				if descending {
					pk = outputs[len(outputs)-1-i]
				}
				if s.Has(pk) && !yield(pk, nil) {
					return
				}
			}
		}
	}
}

// search yields the confirmed outputs with one of several keys, in batches.
func (v *view) search(keys []string, c search) iter.Seq2[[]model.UtxoPk, error] {
	return func(yield func([]model.UtxoPk, error) bool) {
		span, err := v.span(c)
		var all setops.Union
		plain := len(keys) > 0
		budget := &setops.Budget{Left: pointers.MaxScanned}
		for _, key := range keys {
			var l lookup
			var ok bool
			if err == nil {
				l, ok, err = v.resolve(key, c.unspent)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !ok {
				continue
			}
			plain = plain && l.plain
			var of setops.Intersection
			for _, scan := range l.lists {
				of = append(of, &setops.ScanStream{Scan: scan, Span: span, Descending: c.reverse, Budget: budget})
			}
			all = append(all, of)
		}
		if len(all) == 0 || span.Empty() {
			return
		}
		v.run(all, c, plain, yield)
	}
}

// run yields the outputs of a stream, filtered.
func (v *view) run(all setops.Stream, c search, plain bool, yield func([]model.UtxoPk, error) bool) {
	var cut *model.UtxoPk
	sent := 0
	size := outputsPerRead
	if c.limit > 0 {
		size = min(size, c.limit)
	}
	for batch, err := range query.Batches(v.Query(), setops.Merged(all, c.reverse, &cut), size, outputsPerRead) {
		if err == nil {
			batch, err = v.filter(batch, c.unspent, plain)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if c.limit > 0 && sent+len(batch) > c.limit {
			batch = batch[:c.limit-sent]
		}
		sent += len(batch)
		if len(batch) > 0 && !yield(batch, nil) || c.limit > 0 && sent == c.limit {
			return
		}
	}
	if cut != nil {
		yield(nil, pointers.ErrTooManyRows)
	}
}

// filter removes spent outputs, and outputs with a contract.
func (v *view) filter(pks []model.UtxoPk, unspent, plain bool) ([]model.UtxoPk, error) {
	q := v.Query()
	var spent []*model.InputPk
	var err error
	if unspent {
		if spent, err = q.SpendersOf(pks); err != nil {
			return nil, err
		}
	}
	contract := q.Active(contractIndex)
	kept := make([]model.UtxoPk, 0, len(pks))
	rows, err := q.UtxoRows(pks)
	if err != nil {
		return nil, err
	}
	txs := make([]model.TxPk, len(pks))
	for i, pk := range pks {
		txs[i] = pk.Tx()
	}
	ids, err := q.TxIDs(txs)
	if err != nil {
		return nil, err
	}
	for i, pk := range pks {
		if unspent && (spent[i] != nil || v.SpentUnconfirmed(ids[i], uint32(pk.Index()))) {
			continue
		}
		has := false
		for _, o := range rows[i].Occurrences {
			has = has || o.Index == contract
		}
		if !plain || !has {
			kept = append(kept, pk)
		}
	}
	return kept, nil
}
