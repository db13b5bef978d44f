package core_test

import (
	"math/big"
	"slices"
	"strconv"

	"birthmark/core"
	"birthmark/model/modeltest"
)

// The answers of the reference, in the shapes the database answers with.

func (r *reference) text(v *refValue) string {
	return r.chain.Indexes()[v.index].Format(v.value)
}

func (r *reference) block(i int) core.BlockAnswer {
	b := r.blocks[i]
	header, _ := r.chain.Header(b.Header)
	a := core.BlockAnswer{
		Chain: "testchain", Height: uint32(b.Height), Hash: b.Hash.String(), Time: b.Time, Size: b.Size,
		TxCount: len(b.Txs), Txs: []string{}, Header: header,
	}
	if i > 0 {
		a.PrevHash = b.Parent.String()
	}
	for _, t := range b.Txs {
		a.Txs = append(a.Txs, t.Hash.String())
	}
	return a
}

func (r *reference) tx(t *refTx) core.TxAnswer {
	a := core.TxAnswer{
		Chain: "testchain", Hash: t.Hash.String(), Height: t.height, Index: t.index,
		Inputs: []core.InputAnswer{}, Outputs: []core.OutputAnswer{},
	}
	if t.block != nil {
		a.BlockHash, a.Time = t.block.Hash.String(), t.block.Time
		a.Coinbase = r.v.Coinbase && len(t.Inputs) == 0
	}
	fee := new(big.Int).Sub(refSum(t.spends), refSum(t.outputs))
	if t.Fee.Stated {
		a.Fee = strconv.FormatUint(t.Fee.Amount, 10)
	} else if len(t.spends) > 0 && fee.Sign() >= 0 {
		a.Fee = fee.String()
	}
	for i, o := range t.spends {
		spent := r.output(o)
		spent.SpentBy = nil
		a.Inputs = append(a.Inputs, core.InputAnswer{Index: i, Output: spent})
	}
	for _, o := range t.outputs {
		a.Outputs = append(a.Outputs, r.output(o))
	}
	for _, asset := range r.assets { // in the order of births
		if n := t.changes[asset]; n != nil {
			a.Mints = append(a.Mints, core.MintAnswer{Asset: r.chain.FormatAsset(asset.id), Amount: n.String()})
		}
	}
	return a
}

func (r *reference) output(o *refOutput) core.OutputAnswer {
	a := core.OutputAnswer{
		Tx: o.tx.Hash.String(), Index: o.index, Height: o.tx.height, TxIndex: o.tx.index,
		Value: strconv.FormatUint(o.Value, 10), Keys: map[string]any{}, SpentBy: &core.Optional[core.SpentByAnswer]{},
	}
	for _, k := range o.Keys {
		x := r.chain.Indexes()[k.Index]
		if x.Name == "label" {
			list, _ := a.Keys[x.Name].([]string)
			a.Keys[x.Name] = append(list, x.Format(k.Value))
		} else {
			a.Keys[x.Name] = x.Format(k.Value)
		}
	}
	for _, e := range o.entries {
		action := "transfer"
		if n := o.tx.changes[e.asset]; n != nil && n.Sign() > 0 {
			action = "mint"
		}
		a.Assets = append(a.Assets, core.AssetEntryAnswer{
			Asset: r.chain.FormatAsset(e.asset.id), Amount: strconv.FormatUint(e.amount, 10), Action: action,
		})
	}
	if o.spentBy != nil {
		a.SpentBy.Value = &core.SpentByAnswer{Tx: o.spentBy.Hash.String(), Input: o.input, Height: o.spentBy.height}
	}
	return a
}

func seen(o *refOutput) core.FirstSeenAnswer {
	return core.FirstSeenAnswer{Tx: o.tx.Hash.String(), Index: o.index, Height: o.tx.height}
}

func (r *reference) find(v *refValue, onlyUnspent bool) (list []core.OutputAnswer) {
	outputs := v.outputs
	if onlyUnspent {
		outputs = unspent(outputs)
	}
	for _, o := range outputs {
		list = append(list, r.output(o))
	}
	return list
}

func (r *reference) history(v *refValue) (list []core.HistoryTxAnswer) {
	for _, m := range v.moves {
		list = append(list, core.HistoryTxAnswer{
			Hash: m.tx.Hash.String(), Height: m.tx.height, Index: m.tx.index,
			Received: strconv.FormatUint(m.received, 10), Sent: strconv.FormatUint(m.sent, 10),
		})
	}
	return list
}

func (r *reference) balance(v *refValue) core.BalanceAnswer {
	left := unspent(v.outputs)
	received, balance := refSum(v.outputs), refSum(left)
	a := core.BalanceAnswer{
		Index: modeltest.IndexNames[v.index], Value: r.text(v),
		Balance: balance.String(), Received: received.String(), Sent: new(big.Int).Sub(received, balance).String(),
		TxCount: uint64(len(v.moves)), OutputCount: uint64(len(v.outputs)), UnspentCount: uint64(len(left)),
		Assets: []core.AssetBalanceAnswer{},
	}
	sums := held(v.outputs)
	for _, asset := range r.assets {
		if n := sums[asset]; n != nil {
			a.Assets = append(a.Assets, core.AssetBalanceAnswer{Asset: r.chain.FormatAsset(asset.id), Balance: n.String()})
		}
	}
	return a
}

func (r *reference) richest(index, limit int) core.RichestAnswer {
	a := core.RichestAnswer{Index: modeltest.IndexNames[index], Values: []core.RichestValueAnswer{}}
	var rich []*refValue
	for _, v := range r.values {
		if v.index == index && len(unspent(v.outputs)) > 0 {
			rich = append(rich, v)
		}
	}
	slices.SortStableFunc(rich, func(a, b *refValue) int { return refSum(unspent(b.outputs)).Cmp(refSum(unspent(a.outputs))) })
	for _, v := range rich[:min(limit, len(rich))] {
		left := unspent(v.outputs)
		a.Values = append(a.Values, core.RichestValueAnswer{Value: r.text(v), Balance: refSum(left).String(), UnspentCount: uint64(len(left))})
	}
	return a
}

func (r *reference) assetAnswer(asset *refAsset) core.AssetAnswer {
	minted, burned := new(big.Int), new(big.Int)
	a := core.AssetAnswer{
		Asset: r.chain.FormatAsset(asset.id), FirstSeen: seen(asset.outputs[0]),
		OutputCount: uint64(len(asset.outputs)), UnspentCount: uint64(len(unspent(asset.outputs))),
	}
	for _, t := range asset.events {
		if n := t.changes[asset]; n.Sign() > 0 {
			minted.Add(minted, n)
			a.MintCount++
		} else {
			burned.Sub(burned, n)
			a.BurnCount++
		}
	}
	a.Minted, a.Burned, a.Supply = minted.String(), burned.String(), new(big.Int).Sub(minted, burned).String()
	holders := uint64(len(r.holders(asset)))
	a.HolderCount = &holders
	return a
}

func (r *reference) events(asset *refAsset) (list []core.AssetEventAnswer) {
	for _, t := range asset.events {
		n := t.changes[asset]
		action := "mint"
		if n.Sign() < 0 {
			action = "burn"
		}
		list = append(list, core.AssetEventAnswer{Tx: t.Hash.String(), Height: t.height, Index: t.index, Action: action, Amount: n.String()})
	}
	return list
}

func (r *reference) holders(asset *refAsset) (list []core.HolderAnswer) {
	for _, v := range r.values {
		if modeltest.IndexNames[v.index] == "address" {
			if n := held(v.outputs)[asset]; n != nil {
				list = append(list, core.HolderAnswer{Address: r.text(v), Amount: n.String()})
			}
		}
	}
	return list
}
