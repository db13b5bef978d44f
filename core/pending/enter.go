package pending

import (
	"encoding/binary"

	"birthmark/core/query"
	"birthmark/core/query/pointers"
	"birthmark/model"
)

// batch are transactions that enter together, so that the outputs that they spend are read together.
type batch struct {
	*Pool
	order []*model.Unconfirmed          // parents first
	own   map[string]*model.Unconfirmed // by parentOf: the id of a transaction, or a box
	read  map[string]*pointers.Prevout  // by refOf; nil: unknown
	ready []*model.Unconfirmed          // for the next batch: their parents entered now, or have to be read
	waits map[model.Hash]bool           // transactions that cannot enter, since a parent is not known
}

// parentOf returns the key by which an input refers to its transaction, or to its box.
func parentOf(in *model.Input) string {
	if in.Value != nil {
		return string(in.Value)
	}
	return string(in.Tx[:])
}

// refOf returns the key of the output that an input refers to.
func refOf(in *model.Input) string {
	if in.Value != nil {
		return string(in.Value)
	}
	return string(binary.BigEndian.AppendUint32(in.Tx[:len(in.Tx):len(in.Tx)], in.Index))
}

// batch reads the outputs that transactions spend, and orders the transactions. It skips transactions that cannot be
// added.
func (p *Pool) batch(q *query.Query, txs []*model.Unconfirmed) (*batch, error) {
	b := &batch{
		Pool: p, own: map[string]*model.Unconfirmed{}, read: map[string]*pointers.Prevout{}, waits: map[model.Hash]bool{},
	}
	known, err := confirmedWithoutInputs(q, txs)
	if err != nil {
		return nil, err
	}
	var list []*model.Unconfirmed
	for _, t := range txs {
		if t == nil || known[t.Hash] || p.Tx(t.Hash) != nil {
			continue
		}
		known[t.Hash] = true
		list = append(list, t)
		for _, key := range p.keysOf(t) {
			b.own[key] = t
		}
	}
	var inputs []model.Input
	visited := make(map[model.Hash]bool, len(list))
	for _, t := range list {
		b.sort(t, visited)
		for i := range t.Inputs {
			if in := &t.Inputs[i]; b.own[parentOf(in)] == nil && p.parent(in) == nil {
				inputs = append(inputs, *in)
			}
		}
	}
	found, err := q.Prevouts(inputs)
	if err != nil {
		return nil, err
	}
	for i := range inputs {
		b.read[refOf(&inputs[i])] = found[i]
	}
	var messages []any
	for _, t := range list {
		messages = append(messages, t.Message)
	}
	return b, p.tokens.prepare(q, messages, found)
}

// confirmedWithoutInputs returns the transactions without inputs that are confirmed, such as those from a shielded pool
// of Zcash. A confirmed transaction with inputs is found by its spent inputs.
func confirmedWithoutInputs(q *query.Query, txs []*model.Unconfirmed) (map[model.Hash]bool, error) {
	var ids []model.Hash
	for _, t := range txs {
		if t != nil && len(t.Inputs) == 0 {
			ids = append(ids, t.Hash)
		}
	}
	confirmed := make(map[model.Hash]bool, len(txs))
	if ids == nil {
		return confirmed, nil
	}
	found, err := q.TxPks(ids)
	for i := range found {
		confirmed[ids[i]] = len(found[i]) > 0
	}
	return confirmed, err
}

// keysOf returns the keys by which inputs refer to a transaction or to its boxes.
func (p *Pool) keysOf(t *model.Unconfirmed) (keys []string) {
	if p.boxes < 0 {
		return []string{string(t.Hash[:])}
	}
	for i := range t.Outputs {
		for _, k := range t.Outputs[i].Keys {
			if k.Index == p.boxes {
				keys = append(keys, string(k.Value))
			}
		}
	}
	return keys
}

// sort appends a transaction to the order, after those of the batch that it spends from.
func (b *batch) sort(t *model.Unconfirmed, visited map[model.Hash]bool) {
	type visit struct {
		t    *model.Unconfirmed
		next int // the next input
	}
	if visited[t.Hash] {
		return
	}
	visited[t.Hash] = true
	for stack := []visit{{t: t}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.next == len(top.t.Inputs) {
			b.order = append(b.order, top.t)
			stack = stack[:len(stack)-1]
			continue
		}
		parent := b.own[parentOf(&top.t.Inputs[top.next])]
		if top.next++; parent != nil && !visited[parent.Hash] {
			visited[parent.Hash] = true
			stack = append(stack, visit{t: parent})
		}
	}
}

// parent returns the transaction of the overlay whose output an input spends; nil if there is none.
func (p *Pool) parent(in *model.Input) *Tx {
	if in.Value == nil {
		return p.Tx(in.Tx)
	}
	for t := range p.Value(p.boxes, in.Value) {
		if _, ok := t.boxAt(p.boxes, in.Value); ok {
			return t
		}
	}
	return nil
}

// boxAt returns the index of the output with a value of the spend index.
func (t *Tx) boxAt(boxes int, value []byte) (index uint32, ok bool) {
	for i := range t.outputs {
		if t.Output(i).Has(boxes, value) {
			return t.FirstOutput + uint32(i), true
		}
	}
	return 0, false
}

// prevout is an output that an input spends.
type prevout struct {
	Outpoint
	pk     model.UtxoPk // unconfirmed for an output of the overlay
	parent *Tx          // of the overlay; nil: the output is in the chain
	output *model.Output
	tokens []model.TokenAmount // its derived assets, if it is in the chain
}

// enter enters one transaction, after those of the batch that it spends from.
func (b *batch) enter(q *query.Query, t *model.Unconfirmed) error {
	if b.skipped[t.Hash] == invalid {
		return nil
	}
	prevouts := make([]prevout, len(t.Inputs))
	seen := make(map[Outpoint]bool, len(t.Inputs))
	for i := range t.Inputs {
		in := &t.Inputs[i]
		o, ok := b.resolve(in)
		parent := b.own[parentOf(in)]
		switch {
		case !ok && b.read[refOf(in)] != nil, seen[o.Outpoint] && ok: // spent in the chain, or twice
			b.skip(t.Hash, invalid)
			return nil
		case !ok && parent != nil && !b.waits[parent.Hash]: // not read, since it is in the batch, but did not enter
			b.ready = append(b.ready, t)
			return nil
		case !ok:
			b.putAside(t, in)
			return nil
		}
		prevouts[i], seen[o.Outpoint] = o, true
	}
	for _, o := range prevouts {
		if in := b.Spender(o.Outpoint); in != nil {
			b.remove(in.Tx, Fate{Reason: Replaced, By: t.Hash})
		}
	}
	for i, o := range prevouts {
		if o.parent != nil && b.Tx(o.parent.ID) != o.parent { // it was replaced too
			b.putAside(t, &t.Inputs[i])
			return nil
		}
	}
	var d *derived
	if b.tokens != nil {
		var ok bool
		var err error
		if d, ok, err = b.derive(q, &t.Tx, b.tokenInputs(q, prevouts)); err != nil {
			return err
		} else if !ok {
			b.skip(t.Hash, evicted)
			return nil
		}
	}
	b.insert(t, prevouts, d)
	b.aside.drop(t.Hash)
	for _, key := range b.keysOf(t) {
		b.ready = append(b.ready, b.aside.take(key)...)
	}
	return nil
}

// putAside keeps a transaction until the parent of an input arrives.
func (b *batch) putAside(t *model.Unconfirmed, in *model.Input) {
	b.aside.put(b.Pool, t, parentOf(in))
	b.waits[t.Hash] = true
}

// resolve returns the output that an input spends; ok is false if it is not known, or spent in the chain.
func (b *batch) resolve(in *model.Input) (o prevout, ok bool) {
	if t := b.parent(in); t != nil {
		o = prevout{Outpoint{t.ID, in.Index}, unconfirmed, t, nil, nil}
		if in.Value != nil {
			o.Index, _ = t.boxAt(b.boxes, in.Value)
		}
		_, ok = t.OutputAt(o.Index)
		return o, ok
	}
	found := b.read[refOf(in)]
	if found == nil || found.Spent {
		return o, false
	}
	return prevout{Outpoint{found.Tx, found.Index}, found.Pk, nil, &found.Output, found.Tokens}, true
}
