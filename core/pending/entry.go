package pending

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/tidwall/btree"

	"birthmark/internal/guard"
	"birthmark/model"
)

// insert adds a transaction whose inputs are resolved to the tables, with derived assets if there are any.
func (p *Pool) insert(u *model.Unconfirmed, prevouts []prevout, d *derived) {
	t := &Tx{
		ID: u.Hash, Size: u.Size, VSize: u.VSize, Weight: u.Weight, FirstOutput: u.FirstOutput,
		Mints: u.Mints, seen: u.Seen.UnixNano(), tokens: d, tokenOutput: u.TokenOutput,
		inputs: make([]Input, len(prevouts)), outputs: make([]coin, len(u.Outputs)), pks: make([]model.UtxoPk, len(prevouts)),
	}
	if u.Seen.IsZero() {
		t.seen = p.now().UnixNano()
	}
	assets := func(o *model.Output, _ []model.TokenAmount) []Asset { return statedAssets(o) }
	if p.tokens != nil {
		t.Mints, t.Created = p.tokens.mintsOf(d), d.created()
		assets = func(_ *model.Output, derived []model.TokenAmount) []Asset { return p.tokens.assetsOf(derived) }
	}
	data := make([]byte, 0, packedSize(u, prevouts)+p.derivedSize(u, prevouts, d))
	for i := range u.Outputs {
		data, t.outputs[i] = pack(data, &u.Outputs[i], assets(&u.Outputs[i], d.of(i)))
	}
	in, v := new(big.Int), new(big.Int)
	for i, o := range prevouts {
		x := &t.inputs[i]
		*x = Input{Outpoint: o.Outpoint, Index: uint32(i), Tx: t}
		if o.parent == nil {
			data, x.coin = pack(data, o.output, assets(o.output, o.tokens))
		} else {
			spent, _ := o.parent.OutputAt(o.Index)
			x.coin = coin{spent.Value, uint32(len(data)), uint32(len(data) + len(spent.keys))}
			data = append(data, spent.keys...)
		}
		t.pks[i] = o.pk
		in.Add(in, v.SetUint64(x.coin.value))
	}
	t.data = data
	t.Fee, t.FeeKnown = fee(&u.Tx, &p.traits, in)
	if len(u.Raw) > 0 {
		raw := append(make([]byte, 0, len(u.Raw)), u.Raw...) // the source may share its memory
		t.raw.Store(&raw)
	}
	p.add(t)
}

// add adds a transaction to the tables, as the newest.
func (p *Pool) add(t *Tx) {
	p.arrived++
	t.Arrival = p.arrived
	for i := range t.inputs {
		x := &t.inputs[i]
		if pk := t.pks[i]; pk != unconfirmed {
			p.coins[pk] = x
		}
		p.spends.Set(spendRow{prefixOf(&x.Outpoint.Tx), x})
	}
	if raw := t.Raw(); raw != nil {
		p.bySize.Set(t)
		p.raws += int64(len(raw))
		p.memory += int64(len(raw))
	}
	t.extra = t.tokens.cost()
	p.txs.Set(txRow{prefixOf(&t.ID), t})
	p.arrivals.Set(t)
	p.rates.Set(rateRow{t.Rate(), t})
	if a := p.ancestorsOf(t); a.Count > 1 {
		p.ancestors.Set(ancestorsRow{prefixOf(&t.ID), t, a})
	}
	rows := 0
	t.values(func(index int, value []byte) {
		p.values.Set(valueRow{hashOfValue(index, value), t})
		rows++
	}, func(id []byte) {
		p.assets.Set(valueRow{hashOfValue(assetSpace, id), t})
		rows++
	})
	p.count(t, rows, 1)
	p.touch(t)
	if !p.change.All {
		p.change.In = append(p.change.In, t)
	}
	delete(p.skipped, t.ID)
	p.forget(t.ID)
}

// packedSize returns the size of [Tx.data].
func packedSize(u *model.Unconfirmed, prevouts []prevout) (n int) {
	const number = 5               // bytes of the numbers of an entry, at most, for an entry of less than 128 MiB
	add := func(o *model.Output) { // without derived assets
		n += 2
		for _, k := range o.Keys {
			n += len(k.Value) + 2
			if len(k.Value) > 127 {
				n += number
			}
		}
		for _, a := range o.Assets {
			n += len(a.ID) + 2*number
		}
	}
	for i := range u.Outputs {
		add(&u.Outputs[i])
	}
	for _, o := range prevouts {
		if o.parent == nil {
			add(o.output)
		} else if spent, ok := o.parent.OutputAt(o.Index); ok {
			n += len(spent.keys)
		}
	}
	return n
}

// derivedSize returns the size of the derived assets in [Tx.data]; those of outputs of the overlay are in packedSize.
func (p *Pool) derivedSize(u *model.Unconfirmed, prevouts []prevout, d *derived) (n int) {
	if d == nil {
		return 0
	}
	for i := range u.Outputs {
		n += p.tokens.sizeOf(d.of(i))
	}
	for _, o := range prevouts {
		n += p.tokens.sizeOf(o.tokens)
	}
	return n
}

// values calls visit with each value of an index, and asset with each asset, of all inputs and outputs. It repeats
// values and assets that occur several times.
func (t *Tx) values(visit func(index int, value []byte), asset func(id []byte)) {
	t.each(func(o Output) {
		for index, value := range o.Keys() {
			visit(index, value)
		}
		for _, a := range o.Assets() {
			asset(a.ID)
		}
	})
}

// count adds a transaction to the totals, or subtracts it if sign is -1.
func (p *Pool) count(t *Tx, rows int, sign int64) {
	p.size += uint64(sign * int64(t.Size))
	p.vsize += uint64(sign * int64(t.VSize))
	p.fees += uint64(sign) * t.Fee
	p.memory += sign * t.cost(rows)
}

// touch adds the values of a transaction to the change.
func (p *Pool) touch(t *Tx) {
	c := &p.change
	if c.All {
		return
	}
	if c.Touched == nil {
		c.Touched = map[Value]struct{}{}
	}
	t.values(func(index int, value []byte) { c.Touched[Value{index, string(value)}] = struct{}{} }, func([]byte) {})
	if len(c.Touched)+len(c.In)+len(c.Out) > maxTouched {
		*c = Change{All: true}
	}
}

// mostAncestors is the number of ancestors up to which the totals of a transaction with several unconfirmed parents are
// exact: they are found one by one.
const mostAncestors = 500

// ancestorsOf computes the totals of a transaction and its ancestors from those of its parents. With several parents
// and more than [mostAncestors], only the parent with the most ancestors is counted, and these.
func (p *Pool) ancestorsOf(t *Tx) Ancestors {
	few, most := only(t), Ancestors{}
	parents := p.unconfirmedParents(t, nil)
	for _, parent := range parents {
		if a := p.Ancestors(parent); a.Count > most.Count {
			most = a
		}
	}
	few.add(most)
	if len(parents) <= 1 {
		return few
	}
	few.Few = true
	if most.Count > mostAncestors {
		return few
	}
	all := only(t)
	found := map[*Tx]bool{}
	for wait := parents; len(wait) > 0; {
		top := wait[len(wait)-1]
		wait = wait[:len(wait)-1]
		if found[top] {
			continue
		}
		if found[top] = true; len(found) > mostAncestors {
			return few
		}
		all.add(only(top))
		wait = p.unconfirmedParents(top, wait)
	}
	return all
}

// unconfirmedParents appends the transactions of the overlay whose outputs a transaction spends, each once.
func (p *Pool) unconfirmedParents(t *Tx, to []*Tx) []*Tx {
	first := len(to)
	for i, pk := range t.pks {
		if pk != unconfirmed {
			continue
		}
		if parent := p.Tx(t.inputs[i].Outpoint.Tx); parent != nil && !slices.Contains(to[first:], parent) {
			to = append(to, parent)
		}
	}
	return to
}

// withDescendants returns those of some transactions that are in the overlay, and all their descendants, by arrival:
// parents first.
func (p *Pool) withDescendants(txs []*Tx) (all []*Tx) {
	found := map[*Tx]bool{}
	visit := func(t *Tx) bool {
		if found[t] || p.Tx(t.ID) != t {
			return false
		}
		found[t] = true
		all = append(all, t)
		return true
	}
	wait := slices.Clone(txs)
	for _, t := range txs {
		visit(t)
	}
	for len(wait) > 0 {
		top := wait[len(wait)-1]
		wait = wait[:len(wait)-1]
		for in := range p.Spenders(top.ID) {
			if visit(in.Tx) {
				wait = append(wait, in.Tx)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Tx) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return all
}

// remove removes a transaction and its descendants.
func (p *Pool) remove(t *Tx, f Fate) { p.deleteRows(p.leave(t, f)) }

// leave removes a transaction and its descendants, except for the rows that [Pool.deleteRows] removes. It returns those
// that had not left before, descendants first.
func (p *Pool) leave(t *Tx, f Fate) (left []*Tx) {
	f.At = p.now().Unix()
	visit := func(t *Tx) {
		if p.Tx(t.ID) == t {
			p.txs.Delete(txRow{prefixOf(&t.ID), t})
			left = append(left, t)
		}
	}
	visit(t)
	for i := 0; i < len(left); i++ {
		for in := range p.Spenders(left[i].ID) {
			visit(in.Tx)
		}
	}
	slices.Reverse(left)
	for _, t := range left {
		p.gone(t, f)
		p.touch(t)
	}
	return left
}

// confirm removes a transaction that a block has, except for the rows that [Pool.removeConfirmed] removes.
func (p *Pool) confirm(t *Tx, block model.Point) {
	p.gone(t, Fate{Reason: Confirmed, Block: block, At: p.now().Unix()})
	p.touch(t)
}

// removeConfirmed removes the rows of transactions that a block has, and computes the ancestors of their descendants again.
func (p *Pool) removeConfirmed(txs []*Tx) {
	for _, d := range p.withDescendants(txs) {
		if a := p.ancestorsOf(d); a.Count > 1 {
			p.ancestors.Set(ancestorsRow{prefixOf(&d.ID), d, a})
			continue
		}
		p.ancestors.Delete(ancestorsRow{prefix: prefixOf(&d.ID), tx: d})
		p.touch(d)
	}
	p.deleteRows(txs)
}

// gone records that a transaction left. Its rows other than that of txs remain until [Pool.deleteRows].
func (p *Pool) gone(t *Tx, f Fate) {
	p.txs.Delete(txRow{prefixOf(&t.ID), t})
	if f.ID = t.ID; f.Reason == Replaced {
		f.Fee, f.Rate, f.FeeKnown = t.Fee, t.Rate(), t.FeeKnown
	}
	if !p.change.All {
		p.change.Out = append(p.change.Out, Left{f, t})
	}
	if f.Reason == Replaced || f.Reason == Dropped {
		p.record(f)
	}
}

// maxDeleted is the number of transactions whose rows are sorted together, which needs memory.
const maxDeleted = 1 << 14

// deleteRows removes the rows of transactions that left, in the order of each table: memory that was just used is in
// the caches of the processor.
func (p *Pool) deleteRows(left []*Tx) {
	for all := range slices.Chunk(left, maxDeleted) {
		p.deleteSorted(all)
	}
}

func (p *Pool) deleteSorted(all []*Tx) {
	rows, wait := 0, func() {}
	deleteValues := func() { rows = p.deleteValues(all) }
	if len(all) > 1 {
		wait = guard.Beside(deleteValues)
	} else {
		deleteValues()
	}
	var spends []spendRow
	for _, t := range all {
		for i := range t.inputs {
			in := &t.inputs[i]
			spends = append(spends, spendRow{prefixOf(&in.Outpoint.Tx), in})
			if p.coins[t.pks[i]] == in {
				delete(p.coins, t.pks[i])
			}
		}
		p.arrivals.Delete(t)
		p.rates.Delete(rateRow{t.Rate(), t})
		p.ancestors.Delete(ancestorsRow{prefix: prefixOf(&t.ID), tx: t})
		p.count(t, 0, -1)
		p.dropRaw(t)
	}
	slices.SortFunc(spends, func(a, b spendRow) int { return cmp.Compare(a.prefix, b.prefix) })
	for _, r := range spends {
		p.spends.Delete(r)
	}
	wait()
	p.memory -= int64(rows) * valueCost
}

// deleteValues removes the rows of values and assets, and returns their number.
func (p *Pool) deleteValues(all []*Tx) int {
	var values, assets []valueRow
	for _, t := range all {
		t.values(func(index int, value []byte) {
			values = append(values, valueRow{hashOfValue(index, value), t})
		}, func(id []byte) {
			assets = append(assets, valueRow{hashOfValue(assetSpace, id), t})
		})
	}
	for table, rows := range map[*btree.BTreeG[valueRow]][]valueRow{p.values: values, p.assets: assets} {
		slices.SortFunc(rows, func(a, b valueRow) int { return cmp.Compare(a.hash, b.hash) })
		for _, r := range rows {
			table.Delete(r)
		}
	}
	return len(values) + len(assets)
}

// dropRaw frees the serialized bytes of a transaction in the accounts: of one that is removed, or to save memory.
func (p *Pool) dropRaw(t *Tx) {
	if _, kept := p.bySize.Delete(t); kept {
		n := int64(len(t.Raw()))
		p.raws -= n
		p.memory -= n
	}
}
