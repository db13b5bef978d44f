package core_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// reference answers queries from slices and maps in the obvious way, without pointers, births and caches.
type reference struct {
	chain   model.Chain
	traits  model.Traits
	indexes []model.Index
	blocks  []*model.Block
	txs     []*refTx // in chain order
	byHash  map[model.Hash]*refTx
	byBox   map[string]*refOutput
}

type refTx struct {
	*model.Tx
	order   int
	block   *model.Block // nil for genesis transactions
	height  uint32
	index   int
	spends  []*refOutput
	outputs []*refOutput
	mints   map[string]*big.Int
}

type refOutput struct {
	*model.Output
	tx      *refTx
	index   int
	spentBy *refTx
	input   int
}

func newReference(v modeltest.Variant, blocks []*model.Block) *reference {
	c := v.Chain("one")
	r := &reference{chain: c, traits: c.Traits(), indexes: c.Indexes(), blocks: blocks, byHash: map[model.Hash]*refTx{}, byBox: map[string]*refOutput{}}
	for _, b := range blocks {
		var txs []*refTx
		for i := range b.Genesis {
			txs = append(txs, &refTx{Tx: &b.Genesis[i], index: i})
		}
		for i := range b.Txs {
			txs = append(txs, &refTx{Tx: &b.Txs[i], block: b, height: uint32(b.Height), index: i})
		}
		if r.traits.Unordered {
			for _, t := range txs {
				r.create(t)
			}
		}
		for _, t := range txs {
			if !r.traits.Unordered {
				r.create(t)
			}
			r.spend(t)
		}
	}
	return r
}

func (r *reference) create(t *refTx) {
	t.order = len(r.txs)
	r.txs = append(r.txs, t)
	for i := range t.Outputs {
		o := &refOutput{Output: &t.Outputs[i], tx: t, index: t.OutputIndex(i)}
		t.outputs = append(t.outputs, o)
		for _, k := range o.Keys {
			if r.indexes[k.Index].Name == r.traits.SpendIndex {
				r.byBox[string(k.Value)] = o
			}
		}
	}
	r.byHash[t.Hash] = t
}

func (r *reference) spend(t *refTx) {
	left := map[string]*big.Int{}
	count := func(id []byte, amount *big.Int) {
		if left[string(id)] == nil {
			left[string(id)] = new(big.Int)
		}
		left[string(id)].Add(left[string(id)], amount)
	}
	for i, in := range t.Inputs {
		var o *refOutput
		if r.traits.SpendIndex != "" {
			o = r.byBox[string(in.Value)]
		} else {
			from := r.byHash[in.Tx]
			o = from.outputs[in.Index-from.FirstOutput]
		}
		o.spentBy, o.input = t, i
		t.spends = append(t.spends, o)
		for _, a := range o.Assets {
			count(a.ID, new(big.Int).SetUint64(a.Amount))
		}
	}
	t.mints = map[string]*big.Int{}
	for _, m := range t.Mints {
		t.mints[string(m.Asset)] = m.Amount
		count(m.Asset, m.Amount)
	}
	for _, o := range t.outputs {
		for _, a := range o.Assets {
			count(a.ID, new(big.Int).Neg(new(big.Int).SetUint64(a.Amount)))
		}
	}
	if r.traits.ImpliedBurns {
		for id, n := range left {
			if n.Sign() > 0 {
				t.mints[id] = n.Neg(n)
			}
		}
	}
}

func (r *reference) hash(t *refTx) string { return r.chain.FormatHash(t.Hash) }

func (r *reference) outputs() (all []*refOutput) {
	for _, t := range r.txs {
		all = append(all, t.outputs...)
	}
	return all
}

func (r *reference) output(o *refOutput, spentBy bool) query.OutputAnswer {
	a := query.OutputAnswer{Tx: r.hash(o.tx), Index: o.index, Height: o.tx.height, TxIndex: o.tx.index, Value: fmt.Sprint(o.Value), Keys: map[string]any{}}
	for _, k := range o.Keys {
		x := r.indexes[k.Index]
		if x.Kind == model.ManyValued {
			list, _ := a.Keys[x.Name].([]string)
			a.Keys[x.Name] = append(list, x.Format(k.Value))
		} else {
			a.Keys[x.Name] = x.Format(k.Value)
		}
	}
	for _, e := range o.Assets {
		if e.Amount == 0 {
			continue
		}
		action := "transfer"
		if m := o.tx.mints[string(e.ID)]; m != nil && m.Sign() > 0 {
			action = "mint"
		}
		a.Assets = append(a.Assets, query.AssetEntryAnswer{Asset: r.chain.FormatAsset(e.ID), Amount: fmt.Sprint(e.Amount), Action: action})
	}
	if b := o.tx.block; b != nil {
		a.Confirmations, a.BlockTime = r.confirmations(o.tx.height), b.Time
	}
	if spentBy {
		a.SpentBy = &query.Optional[query.SpentByAnswer]{}
		if o.spentBy != nil {
			a.SpentBy.Value = &query.SpentByAnswer{Tx: r.hash(o.spentBy), Input: o.input, Height: o.spentBy.height}
		}
	}
	return a
}

func (r *reference) confirmations(height uint32) uint32 {
	return uint32(r.blocks[len(r.blocks)-1].Height) - height + 1
}

// assetOrder returns the assets in the order of first occurrence.
func (r *reference) assetOrder() (ids []string) {
	for _, o := range r.outputs() {
		for _, a := range o.Assets {
			if a.Amount > 0 && !slices.Contains(ids, string(a.ID)) {
				ids = append(ids, string(a.ID))
			}
		}
	}
	return ids
}

func (r *reference) tx(t *refTx) *query.TxAnswer {
	a := &query.TxAnswer{Chain: r.chain.Name(), Hash: r.hash(t), Height: t.height, Index: t.index, Inputs: []query.InputAnswer{}, Outputs: []query.OutputAnswer{}}
	if t.block != nil {
		a.BlockHash, a.Time = r.chain.FormatHash(t.block.Hash), t.block.Time
		a.Coinbase, a.Confirmations = r.traits.Coinbase && len(t.Inputs) == 0, r.confirmations(t.height)
		if a.Size = len(t.Raw); t.block.Place != nil {
			a.Size = t.block.Place.Sizes[t.index]
		}
	}
	var in, out uint64
	for i, o := range t.spends {
		a.Inputs = append(a.Inputs, query.InputAnswer{Index: i, Output: r.output(o, false)})
		in += o.Value
	}
	for _, o := range t.outputs {
		a.Outputs = append(a.Outputs, r.output(o, true))
		out += o.Value
	}
	switch {
	case t.Fee.Stated:
		a.Fee = fmt.Sprint(t.Fee.Amount)
	case len(t.spends) > 0 && in >= out && !r.traits.FeeOutputs:
		a.Fee = fmt.Sprint(in - out)
	}
	for _, id := range r.assetOrder() {
		if m := t.mints[id]; m != nil {
			a.Mints = append(a.Mints, query.MintAnswer{Asset: r.chain.FormatAsset([]byte(id)), Amount: m.String()})
		}
	}
	return a
}

func (r *reference) block(b *model.Block) *query.BlockAnswer {
	header, _ := r.chain.Header(b.Header)
	a := &query.BlockAnswer{Chain: r.chain.Name(), Height: uint32(b.Height), Hash: r.chain.FormatHash(b.Hash), Time: b.Time, Size: b.Size, TxCount: len(b.Txs), Txs: []string{}, Header: header}
	if b.Parent != (model.Hash{}) {
		a.PrevHash = r.chain.FormatHash(b.Parent)
	}
	for i := range b.Txs {
		a.Txs = append(a.Txs, r.chain.FormatHash(b.Txs[i].Hash))
	}
	return a
}

// where returns the outputs that contain a value.
func (r *reference) where(index int, value string) (found []*refOutput) {
	for _, o := range r.outputs() {
		for _, k := range o.Keys {
			if k.Index == index && string(k.Value) == value {
				found = append(found, o)
			}
		}
	}
	return found
}

// values returns the values of an index in the order of first occurrence.
func (r *reference) values(index int) (values []string) {
	seen := map[string]bool{}
	for _, o := range r.outputs() {
		for _, k := range o.Keys {
			if k.Index == index && !seen[string(k.Value)] {
				seen[string(k.Value)] = true
				values = append(values, string(k.Value))
			}
		}
	}
	return values
}

func (r *reference) history(found []*refOutput) []query.HistoryTxAnswer {
	received, sent := map[*refTx]uint64{}, map[*refTx]uint64{}
	type movement struct{ received, sent big.Int }
	assets := map[*refTx]map[string]*movement{}
	moved := func(t *refTx, o *refOutput, of func(*movement) *big.Int) {
		for _, e := range o.Assets {
			if assets[t] == nil {
				assets[t] = map[string]*movement{}
			}
			if e.Amount > 0 && assets[t][string(e.ID)] == nil {
				assets[t][string(e.ID)] = new(movement)
			}
			if e.Amount > 0 {
				sum := of(assets[t][string(e.ID)])
				sum.Add(sum, new(big.Int).SetUint64(e.Amount))
			}
		}
	}
	var txs []*refTx
	add := func(t *refTx) {
		if !slices.Contains(txs, t) {
			txs = append(txs, t)
		}
	}
	for _, o := range found {
		add(o.tx)
		received[o.tx] += o.Value
		moved(o.tx, o, func(m *movement) *big.Int { return &m.received })
		if o.spentBy != nil {
			add(o.spentBy)
			sent[o.spentBy] += o.Value
			moved(o.spentBy, o, func(m *movement) *big.Int { return &m.sent })
		}
	}
	slices.SortFunc(txs, func(a, b *refTx) int { return a.order - b.order })
	var as []query.HistoryTxAnswer
	balance, order := int64(0), r.assetOrder()
	for _, t := range txs {
		balance += int64(received[t]) - int64(sent[t])
		a := query.HistoryTxAnswer{Hash: r.hash(t), Height: t.height, Index: t.index, Received: fmt.Sprint(received[t]),
			Sent: fmt.Sprint(sent[t]), Balance: fmt.Sprint(balance)}
		if t.block != nil {
			a.Time = t.block.Time
		}
		for _, id := range order {
			if m := assets[t][id]; m != nil {
				a.Assets = append(a.Assets, query.HistoryAssetAnswer{
					Asset: r.chain.FormatAsset([]byte(id)), Received: m.received.String(), Sent: m.sent.String()})
			}
		}
		as = append(as, a)
	}
	return as
}

func (r *reference) balance(index int, value string) *query.BalanceAnswer {
	found := r.where(index, value)
	x := r.indexes[index]
	a := &query.BalanceAnswer{Index: x.Name, Value: x.Format([]byte(value)), Assets: []query.AssetBalanceAnswer{}, OutputCount: uint64(len(found)), TxCount: uint64(len(r.history(found)))}
	var received, sent, unspent uint64
	held := map[string]*big.Int{}
	for _, o := range found {
		received += o.Value
		if o.spentBy != nil {
			sent += o.Value
			continue
		}
		unspent++
		for _, e := range o.Assets {
			if e.Amount == 0 {
				continue
			}
			if held[string(e.ID)] == nil {
				held[string(e.ID)] = new(big.Int)
			}
			held[string(e.ID)].Add(held[string(e.ID)], new(big.Int).SetUint64(e.Amount))
		}
	}
	a.UnspentCount = &unspent
	a.Received, a.Sent, a.Balance = fmt.Sprint(received), fmt.Sprint(sent), fmt.Sprint(received-sent)
	for _, id := range r.assetOrder() {
		if held[id] != nil {
			a.Assets = append(a.Assets, query.AssetBalanceAnswer{Asset: r.chain.FormatAsset([]byte(id)), Balance: held[id].String()})
		}
	}
	return a
}

func (r *reference) richest(index, limit int) *query.RichestAnswer {
	x := r.indexes[index]
	a := &query.RichestAnswer{Index: x.Name, Values: []query.RichestValueAnswer{}}
	type holder struct {
		value   string
		held, n uint64
	}
	var holders []holder
	for _, value := range r.values(index) {
		h := holder{value: value}
		for _, o := range r.where(index, value) {
			if o.spentBy == nil {
				h.held += o.Value
				h.n++
			}
		}
		if h.n > 0 {
			holders = append(holders, h)
		}
	}
	slices.SortStableFunc(holders, func(a, b holder) int { return cmp.Compare(b.held, a.held) })
	for _, h := range holders[:min(limit, len(holders))] {
		a.Values = append(a.Values, query.RichestValueAnswer{Value: x.Format([]byte(h.value)), Balance: fmt.Sprint(h.held), UnspentCount: &h.n})
	}
	return a
}

func (r *reference) asset(id string) (*query.AssetAnswer, []query.AssetEventAnswer, []query.HolderAnswer) {
	a := &query.AssetAnswer{Asset: r.chain.FormatAsset([]byte(id))}
	if fp := r.traits.Fingerprint; fp != nil {
		a.Fingerprint = fp.Format(fp.Of([]byte(id), nil))
	}
	minted, burned := new(big.Int), new(big.Int)
	var events []query.AssetEventAnswer
	held := map[string]*big.Int{}
	first := true
	for _, t := range r.txs {
		if m := t.mints[id]; m != nil {
			action := "mint"
			if m.Sign() > 0 {
				minted.Add(minted, m)
				a.MintCount++
			} else {
				action = "burn"
				burned.Sub(burned, m)
				a.BurnCount++
			}
			events = append(events, query.AssetEventAnswer{Tx: r.hash(t), Height: t.height, Index: t.index, Action: action, Amount: m.String()})
		}
		for _, o := range t.outputs {
			amount := new(big.Int)
			for _, e := range o.Assets {
				if string(e.ID) == id {
					amount.Add(amount, new(big.Int).SetUint64(e.Amount))
				}
			}
			if amount.Sign() == 0 {
				continue
			}
			if first {
				a.FirstSeen = query.FirstSeenAnswer{Tx: r.hash(t), Index: o.index, Height: t.height}
				if r.traits.Tokens != nil {
					a.FirstSeen.Index = 0 // the birth of a derived asset is no output that has it
				}
				for _, m := range t.Mints {
					if string(m.Asset) == id && len(m.Info) > 0 {
						d := r.chain.(model.AssetDescriber).DescribeAsset(m.Info)
						a.Name, a.Description, a.Decimals = d.Name, d.Description, d.Decimals
					}
				}
				first = false
			}
			a.OutputCount++
			if o.spentBy != nil {
				continue
			}
			a.UnspentCount++
			for _, k := range o.Keys {
				if r.indexes[k.Index].Name == "address" {
					if held[string(k.Value)] == nil {
						held[string(k.Value)] = new(big.Int)
					}
					held[string(k.Value)].Add(held[string(k.Value)], amount)
				}
			}
		}
	}
	a.Minted, a.Burned, a.Supply = minted.String(), burned.String(), new(big.Int).Sub(minted, burned).String()
	n := uint64(len(held))
	a.HolderCount = &n
	var holders []query.HolderAnswer
	for _, value := range r.values(0) {
		if held[value] != nil {
			holders = append(holders, query.HolderAnswer{Address: r.indexes[0].Format([]byte(value)), Amount: held[value].String()})
		}
	}
	return a, events, holders
}
