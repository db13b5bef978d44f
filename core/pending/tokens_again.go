package pending

import (
	"bytes"
	"slices"

	"birthmark/core/query"
	"birthmark/model"
)

// deriveAgain derives all assets for the tip of q, after it moved. Transactions whose assets change leave and come back,
// with their descendants.
func (p *Pool) deriveAgain(q *query.Query) error {
	d := p.tokens
	if d == nil {
		return nil
	}
	d.forget()
	fresh, err := p.readMoved(q)
	if err != nil {
		return err
	}
	var messages []any
	for t := range p.arrivals.Scan {
		if t.tokens != nil {
			messages = append(messages, t.tokens.message)
		}
	}
	if err := d.prepare(q, messages, nil); err != nil {
		return err
	}
	var changed, without []*Tx
	holders := p.holders(q)
	for t := range p.arrivals.Scan {
		if !p.concerns(t, fresh) {
			continue
		}
		was := t.tokens
		inputs := make([]tokenInput, len(t.inputs))
		for i := range t.inputs {
			in, spent := &t.inputs[i], t.inputs[i].Spends()
			inputs[i] = tokenInput{pk: t.pks[i], value: spent.Value, holder: spent.Key(holders)}
			if assets, moved := fresh[in]; moved {
				inputs[i].assets = assets
			} else if t.pks[i] != unconfirmed {
				inputs[i].assets = was.input(i)
			} else {
				inputs[i].parent, inputs[i].index = p.Tx(in.Outpoint.Tx), in.Outpoint.Index
			}
		}
		tx := model.Tx{Hash: t.ID, FirstOutput: t.FirstOutput, TokenOutput: t.tokenOutput, Outputs: make([]model.Output, len(t.outputs))}
		for i := range t.outputs {
			tx.Outputs[i].Value = t.outputs[i].value
		}
		if was != nil {
			tx.Message = was.message
		}
		now, ok, err := p.derive(q, &tx, inputs)
		if err != nil {
			return err
		}
		if !ok {
			without = append(without, t)
			continue
		}
		if t.tokens = now; (was != nil || now != nil) && !p.version(t).same(t) {
			changed = append(changed, t)
		}
	}
	p.replace(changed)
	for _, t := range without {
		if p.Tx(t.ID) == t {
			p.skip(t.ID, evicted)
			p.remove(t, Fate{Reason: Evicted})
		}
	}
	return nil
}

// concerns reports whether a transaction can have derived assets.
func (p *Pool) concerns(t *Tx, fresh map[*Input][]model.TokenAmount) bool {
	if t.tokens != nil {
		return true
	}
	for i, pk := range t.pks {
		if pk != unconfirmed {
			if len(fresh) > 0 && len(fresh[&t.inputs[i]]) > 0 {
				return true
			}
		} else if parent := p.Tx(t.inputs[i].Outpoint.Tx); parent != nil && parent.tokens != nil {
			return true
		}
	}
	return false
}

// readMoved reads the assets of the outputs of inputs that moved.
func (p *Pool) readMoved(q *query.Query) (map[*Input][]model.TokenAmount, error) {
	var inputs []*Input
	var pks []model.UtxoPk
	for _, in := range p.tokens.moved {
		if pk := in.Tx.pks[in.Index]; p.Tx(in.Tx.ID) == in.Tx && pk != unconfirmed {
			inputs, pks = append(inputs, in), append(pks, pk)
		}
	}
	p.tokens.moved = nil
	fresh := make(map[*Input][]model.TokenAmount, len(inputs))
	if len(inputs) == 0 {
		return fresh, nil
	}
	found, err := q.Tokens(pks)
	for i := range found {
		fresh[inputs[i]] = found[i]
	}
	return fresh, err
}

// version returns the transaction with the assets that were derived last, before it enters.
func (p *Pool) version(t *Tx) *Tx {
	n := &Tx{
		ID: t.ID, Size: t.Size, VSize: t.VSize, Weight: t.Weight, FirstOutput: t.FirstOutput, Fee: t.Fee, FeeKnown: t.FeeKnown,
		Mints: p.tokens.mintsOf(t.tokens), Created: t.tokens.created(), seen: t.seen, tokens: t.tokens, tokenOutput: t.tokenOutput,
		inputs: make([]Input, len(t.inputs)), outputs: make([]coin, len(t.outputs)), pks: slices.Clone(t.pks),
	}
	size := 0
	for i := range t.outputs {
		size += t.Output(i).keySize() + p.tokens.sizeOf(t.tokens.of(i))
	}
	for i := range t.inputs {
		size += t.inputs[i].Spends().keySize() + p.tokens.sizeOf(t.tokens.input(i))
	}
	n.data = make([]byte, 0, size)
	repack := func(o Output, amounts []model.TokenAmount) coin {
		from := len(n.data)
		n.data = appendAssets(append(n.data, o.keys[:o.keySize()]...), p.tokens.assetsOf(amounts))
		return coin{o.Value, uint32(from), uint32(len(n.data))}
	}
	for i := range t.outputs {
		n.outputs[i] = repack(t.Output(i), t.tokens.of(i))
	}
	for i := range t.inputs {
		in := &t.inputs[i]
		n.inputs[i] = Input{Outpoint: in.Outpoint, Index: in.Index, Tx: n, coin: repack(in.Spends(), t.tokens.input(i))}
	}
	n.raw.Store(t.raw.Load())
	return n
}

// same reports whether the assets of two versions of a transaction are the same.
func (t *Tx) same(other *Tx) bool {
	return bytes.Equal(t.data, other.data) && slices.EqualFunc(t.Mints, other.Mints, func(a, b model.Mint) bool {
		return bytes.Equal(a.Asset, b.Asset) && a.Amount.Cmp(b.Amount) == 0
	})
}

// replace replaces transactions and their descendants by versions with the assets that were derived last.
func (p *Pool) replace(changed []*Tx) {
	all := p.withDescendants(changed)
	at := p.now().Unix()
	for _, t := range all {
		p.gone(t, Fate{Reason: Changed, At: at})
		p.touch(t)
	}
	versions := make([]*Tx, len(all))
	for i, t := range all {
		versions[i] = p.version(t)
	}
	p.deleteRows(all)
	for _, t := range versions {
		p.add(t)
	}
}
