package onesat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// typeEvents is the media type of server-sent events.
const typeEvents = "text/event-stream"

// satoshis is the balance of an owner.
type satoshis struct {
	Balance uint64 `json:"balance"`
	Count   uint64 `json:"count"`
}

// owners returns the births of addresses in the order of births; invalid and unused addresses have none.
func (v *view) owners(addresses []string) (x *schema.Index, births []model.BirthPk, err error) {
	q := v.Query()
	if x = q.Active(addressIndex); x == nil || !x.Active.Has(features) {
		return nil, nil, model.Errorf(model.Refused, "missing_index",
			"the API of 1sat-stack needs index %s with %v: run birthmark index add %[1]s --index %[3]s", addressIndex, features, Needs.Preset)
	}
	seen := map[model.BirthPk]bool{}
	for _, a := range addresses {
		value, err := x.Parse(a)
		if err != nil {
			continue
		}
		birth, err := q.Birth(x, value)
		if err != nil {
			return nil, nil, err
		}
		if birth != nil && !seen[*birth] {
			seen[*birth] = true
			births = append(births, *birth)
		}
	}
	slices.SortFunc(births, func(a, b model.BirthPk) int {
		return cmp.Or(cmp.Compare(a.Utxo, b.Utxo), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	return x, births, nil
}

// ownerBalance returns the sum of the unspent outputs of an owner, also of unconfirmed ones.
func ownerBalance(r *request) answer {
	owner := arg(r, "owner")
	return func(v *view) (any, error) {
		x, births, err := v.owners([]string{owner})
		if err != nil {
			return nil, err
		}
		var a schema.Account
		if len(births) > 0 {
			if a, err = v.Query().Account(x, births[0]); err != nil {
				return nil, err
			}
		}
		sum := balanceOf(&a)
		if value, err := x.Parse(owner); err == nil {
			stats := v.UnconfirmedStats(addressIndex, value)
			sum.Balance += stats.FundedSum - stats.SpentSum
			sum.Count += uint64(stats.Funded) - uint64(stats.Spent)
		}
		return sum, nil
	}
}

func balanceOf(a *schema.Account) satoshis {
	balance := a.Balance()
	return satoshis{balance.Unsigned().Lo, uint64(a.Unspent)}
}

// ownerOutputs streams the outputs of an owner as events; a client that accepts JSON only gets a list.
func ownerOutputs(r *request) answer {
	owner := arg(r, "owner")
	c, m := searchOf(r, defaultLimit), membersOf(r, false)
	if unspent, err := strconv.ParseBool(r.Param("unspent")); err != nil || unspent {
		c.unspent = true
	}
	keys := []string{"own:" + owner}
	if r.Request.Header.Get("Accept") == exchange.TypeJSON {
		return func(v *view) (any, error) { return v.list(keys, c, m), nil }
	}
	refresh := r.Param("refresh") == "true"
	return func(v *view) (any, error) {
		s := events(r)
		if refresh {
			s.send("sync", object{"phase": "done", "owner": owner, "height": v.Tip.Height})
		}
		for outputs, err := range v.found(keys, c, m) {
			if err != nil {
				return nil, err
			}
			values, err := v.values(outputs, m)
			if err != nil {
				return nil, err
			}
			for _, value := range values {
				s.send("txo", value)
			}
			if err := s.flush(); err != nil {
				return nil, err
			}
		}
		s.send("done", object{})
		return exchange.Appended{}, s.flush()
	}
}

// stream writes server-sent events of a bounded number.
type stream struct {
	r    *request
	text []byte
}

func events(r *request) *stream {
	r.SetType(typeEvents)
	h := r.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	return &stream{r: r}
}

func (s *stream) send(event string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // the types have no values that cannot be written
	}
	s.text = fmt.Appendf(s.text, "event: %s\ndata: %s\n\n", event, text)
}

func (s *stream) flush() error {
	err := s.r.Append(exchange.Text(s.text))
	s.text = s.text[:0]
	if err != nil {
		return err
	}
	return s.r.Flush()
}

// syncValue is an output that a transaction creates or spends.
type syncValue struct {
	Outpoint  string  `json:"outpoint"`
	Score     float64 `json:"score"`
	SpendTxid string  `json:"spendTxid,omitempty"`
}

// ownerSync streams the outputs of owners in the order of the transactions that create or spend them: an output that is
// spent occurs twice.
func ownerSync(r *request) answer {
	owners := r.Query()["owner"]
	if len(owners) == 0 {
		r.Refuse(badRequest("owner query parameter required"))
	}
	if len(owners) > maxTokens {
		r.Refuse(badRequest("Too many owners (max %d)", maxTokens))
	}
	c := searchOf(r, 0)
	if last, err := strconv.ParseFloat(r.Request.Header.Get("Last-Event-ID"), 64); err == nil {
		c.from = &last
	}
	c.to = nil
	return func(v *view) (any, error) {
		x, births, err := v.owners(owners)
		if err != nil {
			return nil, err
		}
		span, err := v.span(c)
		if err != nil {
			return nil, err
		}
		s := events(r)
		if len(births) > 0 && !span.Empty() {
			if err := v.sync(s, x, births, span); err != nil {
				return nil, err
			}
		}
		if err := v.syncUnconfirmed(s, x, owners, c.from); err != nil {
			return nil, err
		}
		s.text = append(s.text, "event: done\ndata: {}\nretry: 60000\n\n"...)
		return exchange.Appended{}, s.flush()
	}
}

// sync sends the changes of owners in a span.
func (v *view) sync(s *stream, x *schema.Index, births []model.BirthPk, span setops.Span) error {
	q := v.Query()
	histories := q.StoredHistoryOf(x, births, span, false)
	for txs, err := range query.Batches(q, histories, outputsPerRead, outputsPerRead) {
		if err != nil {
			return err
		}
		created, spent, err := q.MovedOutputs(x, births, txs)
		if err != nil {
			return err
		}
		of := make([][]model.UtxoPk, len(txs))
		for _, list := range [][]query.MovedOutput{created, spent} {
			for _, o := range list {
				of[o.Tx] = append(of[o.Tx], o.Pk)
			}
		}
		for i, t := range txs {
			outputs, err := v.confirmed(of[i], members{spend: true})
			if err != nil {
				return err
			}
			at := score(uint32(t.Tx.Height()), t.Tx.TxIndex())
			for _, o := range outputs {
				s.moved(o, at)
			}
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

// moved adds the event of an output that a transaction with a score creates or spends.
func (s *stream) moved(o *stored, score float64) {
	value := syncValue{Outpoint: dottedText(o), Score: score}
	if o.spend != nil {
		value.SpendTxid = block.FormatHash(*o.spend)
	}
	text, _ := json.Marshal(value) // it has no values that cannot be written
	s.text = fmt.Appendf(s.text, "data: %s\nid: %.0f\n\n", text, score)
}

// syncUnconfirmed sends the changes of owners by unconfirmed transactions, whose score is the time of their arrival.
func (v *view) syncUnconfirmed(s *stream, x *schema.Index, owners []string, from *float64) error {
	own, arrival := map[string]bool{}, map[model.Hash]int64{}
	var ids []model.Hash
	for _, owner := range owners {
		value, err := x.Parse(owner)
		if err != nil {
			continue
		}
		own["own:"+owner] = true
		for id := range v.UnconfirmedWith(addressIndex, value) {
			if _, found := arrival[id]; !found {
				arrival[id], ids = v.Seen(id).UnixNano(), append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, func(a, b model.Hash) int {
		return cmp.Or(cmp.Compare(arrival[a], arrival[b]), slices.Compare(a[:], b[:]))
	})
	for _, id := range ids {
		tx, err := v.Tx(id)
		if is(err, "unknown_tx") {
			continue
		}
		if err != nil {
			return err
		}
		outputs, err := v.unconfirmedOutputs(tx)
		if err != nil {
			return err
		}
		for i, in := range tx.Msg.TxIn {
			prevout := &tx.Prevouts[i]
			outputs = append(outputs, &stored{
				id: model.Hash(in.PreviousOutPoint.Hash), index: int(in.PreviousOutPoint.Index), value: prevout.Value,
				script: prevout.Script, spend: &tx.ID,
			})
		}
		at := seen(tx)
		for _, o := range outputs {
			has, err := v.hasEvent(o, own)
			if err != nil {
				return err
			}
			if has && (from == nil || at >= *from) {
				s.moved(o, at)
			}
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

func dottedText(o *stored) string {
	return block.FormatHash(o.id) + "." + strconv.Itoa(o.index)
}
