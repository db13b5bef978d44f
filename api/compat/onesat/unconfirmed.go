package onesat

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	sat "birthmark/chains/bitcoinsv/onesat"
	"birthmark/core/query/pointers"
	"birthmark/model"
)

// maxUnconfirmed is the number of unconfirmed transactions that a search reads.
const maxUnconfirmed = 1000

// found yields the outputs with one of several keys, in batches: unconfirmed ones have the highest scores.
func (v *view) found(keys []string, c search, m members) iter.Seq2[[]*stored, error] {
	return func(yield func([]*stored, error) bool) {
		left := c.limit
		// send yields outputs up to the limit, and reports whether more may follow.
		send := func(outputs []*stored) bool {
			if c.limit > 0 {
				outputs = outputs[:min(left, len(outputs))]
				left -= len(outputs)
			}
			return (len(outputs) == 0 || yield(outputs, nil)) && (c.limit == 0 || left > 0)
		}
		unconfirmed := func() bool {
			outputs, err := v.unconfirmed(keys, c)
			if err != nil {
				yield(nil, err)
				return false
			}
			return send(outputs)
		}
		if c.reverse && !unconfirmed() {
			return
		}
		confirmed := c
		confirmed.limit = left
		for pks, err := range v.search(keys, confirmed) {
			var outputs []*stored
			if err == nil {
				outputs, err = v.confirmed(pks, m)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !send(outputs) {
				return
			}
		}
		if !c.reverse {
			unconfirmed()
		}
	}
}

// unconfirmed returns the unconfirmed outputs with one of several keys, in the order of their scores. An output has a key if
// its events do. Error: [pointers.ErrTooManyRows].
func (v *view) unconfirmed(keys []string, c search) ([]*stored, error) {
	wanted := map[string]bool{}
	read := map[model.Hash]bool{}
	var found []*stored
	for _, key := range keys {
		key = eventOf(key)
		wanted[key] = true
		txs, err := v.candidates(key)
		if err != nil {
			return nil, err
		}
		for id := range txs {
			if read[id] {
				continue
			}
			if read[id] = true; len(read) > maxUnconfirmed {
				return nil, pointers.ErrTooManyRows
			}
			tx, err := v.Tx(id)
			if is(err, "unknown_tx") || err == nil && tx.Place.Confirmed {
				continue
			}
			var outputs []*stored
			if err == nil {
				outputs, err = v.unconfirmedOutputs(tx)
			}
			if err != nil {
				return nil, err
			}
			found = append(found, outputs...)
		}
	}
	kept := found[:0]
	for _, o := range found {
		if c.unspent && o.spend != nil || c.from != nil && o.seen < *c.from || c.to != nil && o.seen > *c.to {
			continue
		}
		has, err := v.hasEvent(o, wanted)
		if err != nil {
			return nil, err
		}
		if has {
			kept = append(kept, o)
		}
	}
	slices.SortStableFunc(kept, func(a, b *stored) int {
		return cmp.Or(cmp.Compare(a.seen, b.seen), slices.Compare(a.id[:], b.id[:]), cmp.Compare(a.index, b.index))
	})
	if c.reverse {
		slices.Reverse(kept)
	}
	return kept, nil
}

// eventOf returns the event that the outputs with a key have.
func eventOf(key string) string {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "z:"), "ev:")
	if token, ok := strings.CutPrefix(key, "tp:"); ok {
		return "id:" + strings.TrimPrefix(token, "tm_")
	}
	if parent, ok := strings.CutPrefix(key, "parent:"); ok {
		return "parent:" + strings.Replace(parent, "_", ".", 1)
	}
	return key
}

// arrived returns the unconfirmed outputs with a key, except those of the transactions in known, and all unconfirmed
// transactions that can have the key. If known is nil, it returns no outputs.
func (v *view) arrived(key string, known map[model.Hash]bool) (outputs []*stored, now map[model.Hash]bool, err error) {
	event, now := eventOf(key), map[model.Hash]bool{}
	txs, err := v.candidates(event)
	if err != nil {
		return nil, nil, err
	}
	for id := range txs {
		if known == nil || known[id] {
			now[id] = known != nil || !v.Seen(id).IsZero() // the key txid: can name any transaction
			continue
		}
		tx, err := v.Tx(id)
		if is(err, "unknown_tx") || err == nil && tx.Place.Confirmed {
			continue
		}
		var made []*stored
		if err == nil {
			made, err = v.unconfirmedOutputs(tx)
		}
		if err != nil {
			return nil, nil, err
		}
		now[id] = true
		for _, o := range made {
			has, err := v.hasEvent(o, map[string]bool{event: true})
			if err != nil {
				return nil, nil, err
			}
			if has {
				outputs = append(outputs, o)
			}
		}
	}
	return outputs, now, nil
}

// hasEvent reports whether an output has one of several events.
func (v *view) hasEvent(o *stored, wanted map[string]bool) (bool, error) {
	d, err := v.decode(o)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(v.eventsOf(o, d), func(event string) bool { return wanted[event] }), nil
}

// candidates yields the unconfirmed transactions that can have outputs with a key.
func (v *view) candidates(key string) (iter.Seq[model.Hash], error) {
	none := func(func(model.Hash) bool) {}
	name, rest, _ := strings.Cut(key, ":")
	parts := strings.Split(rest, ":")
	value := func(index, text string) (iter.Seq[model.Hash], error) {
		x := v.Query().Active(index)
		if x == nil {
			return none, nil
		}
		parsed, err := x.Parse(text)
		if err != nil {
			return none, nil
		}
		return v.UnconfirmedWith(index, parsed), nil
	}
	switch name {
	case "txid":
		id, ok := block.ParseHash(rest)
		return func(yield func(model.Hash) bool) { _ = ok && yield(id) }, nil
	case "own":
		return value(addressIndex, rest)
	case "sym":
		return value(symbolIndex, rest)
	case "type":
		return value(typeIndex, rest)
	case "parent":
		return value(parentIndex, strings.Replace(rest, ".", "_", 1))
	case "id":
		return v.unconfirmedToken(rest)
	case string(sat.PayKey), string(sat.Cosign), string(sat.Listing), string(sat.Mining), string(sat.Pow20):
		switch {
		case len(parts) == 2:
			return value(addressIndex, parts[0])
		case name == listKey && rest == "":
			return value(contractIndex, name)
		}
		return v.unconfirmedToken(rest)
	}
	return none, nil
}

// unconfirmedToken yields the unconfirmed transactions with a token or the authority to mint it.
func (v *view) unconfirmedToken(id string) (iter.Seq[model.Hash], error) {
	return func(yield func(model.Hash) bool) {
		for _, text := range []string{id, id + ":auth"} {
			asset, err := v.Query().Chain.ParseAsset(text)
			if err != nil {
				return
			}
			for tx := range v.UnconfirmedWithAsset(asset) {
				if !yield(tx) {
					return
				}
			}
		}
	}, nil
}

// unconfirmedOutputs returns the outputs of an unconfirmed transaction.
func (v *view) unconfirmedOutputs(tx *wallet.Tx) ([]*stored, error) {
	outputs := make([]*stored, len(tx.Msg.TxOut))
	for i, out := range tx.Msg.TxOut {
		o := &stored{id: tx.ID, index: i, value: uint64(out.Value), script: out.PkScript, seen: seen(tx)}
		for _, a := range v.UnconfirmedAssets(tx.ID, i) {
			o.held = append(o.held, held{v.Query().Chain.FormatAsset(a.ID), a.Amount})
		}
		var err error
		if o.spend, err = v.unconfirmedSpender(tx.ID, i); err != nil {
			return nil, err
		}
		outputs[i] = o
	}
	return outputs, nil
}
