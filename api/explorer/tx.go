package explorer

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	rowsPage   = 100      // inputs, and outputs, in one part of a transaction's page
	rawShown   = 32 << 10 // bytes of a transaction that are written out
	assetNames = 40       // assets of a page that are named and counted as their makers want them to be
)

// txBody is one transaction.
type txBody struct {
	Hash     string
	Block    link // empty: it existed before the first block
	Hashed   link // the block by its hash
	Depth    uint32
	Index    int
	Time     *moment
	Kind     string // what is special about it; empty: nothing
	Value    amount // of all outputs
	Fee      *amount
	Rate     string // of the fee, by virtual size or size; empty: the size is not known
	Size     int    // bytes; 0: not known
	Weight   int    // weight units; 0: not known, or the chain has none
	Virtual  int    // virtual bytes, with Weight
	Flow     *flow
	Inputs   []outputRow
	Outputs  []outputRow
	InCount  int
	OutCount int
	InPager  pager
	OutPager pager
	Mints    []assetAmount
	Raw      string // hex; empty: not kept, or too long to be shown
	RawURL   string // where the bytes are; empty: not kept
}

// outputRow is an output in a list.
type outputRow struct {
	Index   int
	Ref     link
	Value   amount
	Owner   []ownerLink // values of the index that says most; none: it has no value
	Assets  []assetAmount
	Spent   *link // nil: unspent, or not asked
	Height  link  // of what spends it
	Unspent bool
	Made    *made // nil: the list does not say
}

// made is the block that an output was made in.
type made struct {
	Block         link
	Time          *moment // nil: before the first block
	Confirmations string  // with Time
}

// ownerLink is a value of an index that an output has.
type ownerLink struct {
	Index string
	link
}

// assetAmount is some of an asset.
type assetAmount struct {
	link
	Name   string // what its maker calls it; empty: nothing that is known
	Amount amount
	Action string // minted, burned; empty: neither
}

// tx is one transaction.
func (v *visit) tx() (*page, error) {
	a, err := v.Tx(v.ctx, v.req.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	p := &page{Kind: "tx", Title: "Transaction " + a.Hash, JSON: v.api("tx", a.Hash), Section: "blocks",
		Description: titleOf(v.chain.Model) + " transaction of " + humanize.Plural(len(a.Inputs), "input") + " and " + humanize.Plural(len(a.Outputs), "output") + ".",
		Crumbs:      []link{{v.url("blocks"), "Blocks"}, v.heightLink(a.Height), {Text: "Transaction"}}}
	b := &txBody{Hash: a.Hash, Index: a.Index, Value: v.amount(sum(a.Outputs)), InCount: len(a.Inputs), OutCount: len(a.Outputs)}
	switch {
	case a.BlockHash == "":
		b.Kind = "genesis"
		p.Crumbs = []link{{v.url("blocks"), "Blocks"}, {Text: "Transaction"}}
	case a.Coinbase:
		b.Kind = "coinbase"
	}
	if a.BlockHash != "" {
		b.Block, b.Hashed, b.Depth = v.heightLink(a.Height), v.blockLink(a.BlockHash), uint32(v.Tip.Height)-a.Height+1
		b.Block.URL, p.Crumbs[1].URL = b.Hashed.URL, b.Hashed.URL
		at := v.moment(a.Time)
		b.Time = &at
	}
	if a.Fee != "" && !a.Coinbase && a.BlockHash != "" {
		fee := v.amount(a.Fee)
		b.Fee = &fee
	}
	if err := v.raw(b, a); err != nil {
		return nil, err
	}
	b.Flow = v.flow(a)
	if err := v.txParts(b, a); err != nil {
		return nil, err
	}
	p.Body = b
	return p, nil
}

// raw adds the bytes of a transaction, and what they tell of the fee, where the database keeps them.
func (v *visit) raw(b *txBody, a *query.TxAnswer) error {
	raw, err := v.RawTx(v.ctx, a.Hash)
	if _, code := model.KindOf(err); code == "no_raw" {
		return nil
	}
	if err != nil {
		return err
	}
	b.Size, b.RawURL = len(raw.Raw)/2, v.api("tx", a.Hash, "raw")
	if b.Size <= rawShown {
		b.Raw = raw.Raw
	}
	size, per := b.Size, "/B"
	if chain, ok := v.chain.Model.(model.TxWeigher); ok {
		bytes, err := hex.DecodeString(raw.Raw)
		if err == nil {
			b.Weight, b.Virtual, err = chain.WeighTx(bytes)
		}
		if err != nil {
			return fmt.Errorf("weight of transaction %s: %w", a.Hash, err)
		}
		size, per = b.Virtual, "/vB"
	}
	if b.Fee != nil && a.Fee != "0" && size > 0 && v.unit.Smallest != "" {
		b.Rate = feeRate(a.Fee, size) + " " + v.unit.Smallest + per
	}
	return nil
}

// feeRate is a fee divided by a size, with two digits after the point, three below 1.
func feeRate(fee string, size int) string {
	n, _ := strconv.ParseFloat(fee, 64) // of a decimal number it cannot fail
	rate, digits := n/float64(size), 2
	switch {
	case rate < 0.0005:
		return "<0.001"
	case rate < 0.9995:
		digits = 3
	}
	return strconv.FormatFloat(rate, 'f', digits, 64)
}

// txParts adds the inputs and outputs that the request asks for, and what was minted.
func (v *visit) txParts(b *txBody, a *query.TxAnswer) error {
	in, err := v.number("inputs", 1)
	if err != nil {
		return err
	}
	out, err := v.number("outputs", 1)
	if err != nil {
		return err
	}
	base := v.url("tx", a.Hash)
	inFrom, inTo, inPager, err := numbered(base, "inputs", in, len(a.Inputs), rowsPage)
	if err != nil {
		return err
	}
	outFrom, outTo, outPager, err := numbered(base, "outputs", out, len(a.Outputs), rowsPage)
	if err != nil {
		return err
	}
	b.InPager, b.OutPager = inPager.at("inputs"), outPager.at("outputs")
	n := v.naming()
	for _, in := range a.Inputs[inFrom:inTo] {
		row, err := v.outputRow(&in.Output, n)
		if err != nil {
			return err
		}
		row.Index = in.Index
		for i := range row.Assets {
			row.Assets[i].Action = "" // that was where the output was made
		}
		b.Inputs = append(b.Inputs, row)
	}
	for i := range a.Outputs[outFrom:outTo] {
		row, err := v.outputRow(&a.Outputs[outFrom+i], n)
		if err != nil {
			return err
		}
		b.Outputs = append(b.Outputs, row)
	}
	for _, m := range a.Mints {
		entry, err := n.entry(m.Asset, m.Amount)
		if err != nil {
			return err
		}
		entry.Action = "minted"
		if m.Amount[0] == '-' {
			entry.Action = "burned"
		}
		b.Mints = append(b.Mints, entry)
	}
	return nil
}

// outputRow is an output made for reading.
func (v *visit) outputRow(o *query.OutputAnswer, n *naming) (outputRow, error) {
	row := outputRow{Index: o.Index, Ref: v.outputLink(o.Tx, o.Index), Value: v.amount(o.Value), Owner: v.owner(o)}
	for _, e := range o.Assets {
		entry, err := n.entry(e.Asset, e.Amount)
		if err != nil {
			return row, err
		}
		if e.Action == "mint" {
			entry.Action = "minted"
		}
		row.Assets = append(row.Assets, entry)
	}
	switch {
	case o.SpentBy == nil:
	case o.SpentBy.Value == nil:
		row.Unspent = true
	default:
		spent := v.txLink(o.SpentBy.Value.Tx)
		row.Spent, row.Height = &spent, v.heightLink(o.SpentBy.Value.Height)
	}
	return row, nil
}

// owner is the values of the chain's most important index that the output has some of.
func (v *visit) owner(o *query.OutputAnswer) []ownerLink {
	for _, x := range v.chain.Model.Indexes() {
		if values := valuesOf(o.Keys[x.Name]); len(values) > 0 && x.Name != v.chain.Model.Traits().SpendIndex {
			return v.owners(x.Name, values)
		}
	}
	return nil
}

func (v *visit) owners(index string, values []string) (links []ownerLink) {
	for _, value := range values {
		links = append(links, ownerLink{index, v.valueLink(index, value)})
	}
	return links
}

// valuesOf is what an output's keys have of one index.
func valuesOf(key any) []string {
	switch key := key.(type) {
	case string:
		return []string{key}
	case []string:
		return key
	}
	return nil
}

// sum of the values of outputs.
func sum(outputs []query.OutputAnswer) string {
	total, n := new(big.Int), new(big.Int)
	for i := range outputs {
		if _, ok := n.SetString(outputs[i].Value, 10); ok {
			total.Add(total, n)
		}
	}
	return total.String()
}
