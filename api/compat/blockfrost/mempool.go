package blockfrost

import (
	"cmp"
	"math/big"
	"slices"

	"birthmark/api/compat/utxo"
	"birthmark/api/ratelimit"
	"birthmark/chains/cardano/address"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/model"
)

// maxSubmitted is more than the bytes of any transaction: nodes accept 16 KiB.
const maxSubmitted = 1 << 20

// submit sends the transaction of the body to the node, and enters it into the mempool.
func submit(c *call) (any, error) {
	if c.Chain.Submitter == nil {
		return nil, errNoNode
	}
	if err := ratelimit.Submission(c.r.Writer()); err != nil {
		return nil, err
	}
	id, err := c.Chain.Submitter.Submit(c.ctx(), c.r.Content(), model.SubmitOptions{})
	if err != nil {
		return nil, err
	}
	if c.Chain.Mempool != nil {
		_ = c.Chain.Mempool.Enter(c.ctx(), id) // if this fails, the next list of the node has the transaction
	}
	return id.String(), nil
}

// unconfirmed returns the unconfirmed transactions at the newest tip, which other endpoints show. Those of the follower
// can be of an earlier tip, in which a transaction was confirmed that is not now.
func (c *call) unconfirmed() (o *pending.Overlay, err error) {
	err = c.Chain.Mempool.View(c.ctx(), func(_ *query.View, at *pending.Overlay) error {
		o = at
		return nil
	})
	return o, err
}

// mempool lists the unconfirmed transactions in the order of arrival.
func mempool(c *call) (any, error) {
	if c.Chain.Mempool == nil {
		return nil, errNoNode
	}
	s, err := c.unconfirmed()
	if err != nil {
		return nil, err
	}
	txs := []txHash{}
	for t := range s.Arrivals(0) {
		txs = append(txs, txHash{t.ID.String()})
	}
	return slicePage(txs, c.page), nil
}

// mempoolOfAddress lists the unconfirmed transactions that pay to an address or spend from it.
func mempoolOfAddress(c *call) (any, error) {
	if c.Chain.Mempool == nil {
		return nil, errNoNode
	}
	raw, err := c.parseAddress(c.arg("address"))
	if err != nil {
		return nil, errAddress
	}
	s, err := c.unconfirmed()
	if err != nil {
		return nil, err
	}
	txs := []txHash{}
	if x := s.Index(utxo.AddressIndex); x >= 0 {
		for t := range s.Value(x, raw) {
			txs = append(txs, txHash{t.ID.String()})
		}
	}
	return slicePage(txs, c.page), nil
}

// mempoolTx answers an unconfirmed transaction.
func mempoolTx(v *view) (any, error) {
	if v.Chain.Mempool == nil {
		return nil, errNoNode
	}
	id, _ := readHash(v.arg("hash"))
	s, err := v.unconfirmed()
	if err != nil {
		return nil, err
	}
	t := s.Tx(id)
	if t == nil {
		return nil, errNotFound
	}
	raw, err := v.Chain.Mempool.Raw(v.ctx(), t)
	if pending.HasLeft(err) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, err
	}
	d, err := v.decodeRaw(raw)
	if err != nil {
		return nil, err
	}
	a := &pendingValue{Inputs: []pendingInput{}, Outputs: []createdValue{}, Redeemers: []pendingRedeemer{}}
	left := new(big.Int)
	for _, in := range t.Inputs() {
		o := in.Spends()
		left.Add(left, bigInt(o.Value))
		a.Inputs = append(a.Inputs, pendingInput{Address: pendingAddress(s, o), TxHash: in.Outpoint.Tx.String(), OutputIndex: int(in.Outpoint.Index)})
	}
	for _, group := range []struct {
		refs       []model.OutputReference
		collateral bool
	}{{d.Details.ReferenceInputs, false}, {d.Details.Collateral, true}} {
		for _, r := range group.refs {
			in := pendingInput{TxHash: r.Tx, OutputIndex: r.Index, Collateral: group.collateral, Reference: !group.collateral}
			if in.Address, err = v.referenced(s, r); err != nil {
				return nil, err
			}
			a.Inputs = append(a.Inputs, in)
		}
	}
	assets := sums{}
	for i := range d.Outputs {
		o, err := utxo.OutputOf(&d.Outputs[i])
		if err != nil {
			return nil, err
		}
		left.Sub(left, bigInt(o.Value))
		assets.addOutput(o)
		created := createdOf(o)
		created.OutputIndex = int(t.FirstOutput) + i
		a.Outputs = append(a.Outputs, created)
	}
	if d.Parts.CollateralReturn != nil && !d.Failed {
		o, err := utxo.ReadOutput(d.Parts.CollateralReturn)
		if err != nil {
			return nil, err
		}
		returned := createdOf(o) // without assets, as for a confirmed transaction
		returned.OutputIndex, returned.Collateral, returned.Amount = len(d.Outputs), true, returned.Amount[:1]
		a.Outputs = append(a.Outputs, returned)
	}
	a.Tx.Hash, a.Tx.txContents = id.String(), v.txContents(d, assets, len(t.Inputs())+len(d.Outputs))
	a.Tx.Fees, a.Tx.Deposit = decimal(t.Fee), depositOf(d, left.Sub(left, bigInt(t.Fee))).String()
	redeemers := d.Witnessed().Redeemers
	for i := range redeemers {
		r := &redeemers[i]
		a.Redeemers = append(a.Redeemers, pendingRedeemer{r.Index, r.PurposeName(), decimal(r.Memory), decimal(r.Steps)})
	}
	slices.SortStableFunc(a.Redeemers, func(x, y pendingRedeemer) int { return cmp.Compare(x.TxIndex, y.TxIndex) })
	return a, nil
}

// pendingAddress returns the address of an output of the mempool, or of one that it spends.
func pendingAddress(s *pending.Overlay, o pending.Output) string {
	if x := s.Index(utxo.AddressIndex); x >= 0 {
		return address.FormatAny(o.Key(x))
	}
	return ""
}

// referenced returns the address of an output that a transaction names; empty if it is not known.
func (v *view) referenced(s *pending.Overlay, r model.OutputReference) (string, error) {
	tx, ok := readHash(r.Tx)
	if !ok {
		return "", nil
	}
	if t := s.Tx(tx); t != nil {
		if o, ok := t.OutputAt(uint32(r.Index)); ok {
			return pendingAddress(s, o), nil
		}
	}
	found, err := v.Q.Prevouts([]model.Input{{Tx: tx, Index: uint32(r.Index)}})
	if err != nil || found[0] == nil {
		return "", err
	}
	owners, err := v.Owners([]model.UtxoPk{found[0].Pk})
	if err != nil {
		return "", err
	}
	return owners[0].Text, nil
}
