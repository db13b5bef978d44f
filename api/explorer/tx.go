package explorer

import (
	"fmt"
	"math/big"
	"strconv"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	rowsPage   = 100      // inputs and outputs per page
	rawShown   = 32 << 10 // maximum size of a transaction shown in hex
	assetNames = 40       // assets per page with name and decimals
)

// txBody is one transaction.
type txBody struct {
	*query.TxAnswer
	Block    link // empty: genesis
	Depth    uint32
	Kind     string // coinbase, genesis or empty
	Value    amount // of all outputs
	Fee      *amount
	Rate     string // fee per virtual byte or byte; empty: unknown
	Flow     *charts.Flow
	Inputs   []outputRow
	Outputs  []outputRow
	InCount  int
	OutCount int
	InPager  pager
	OutPager pager
	Mints    []assetAmount
	Raw      string // hex; empty: not stored, or too long
	RawURL   string // path of the bytes; empty: not stored
}

type outputRow struct {
	Index   int
	Fields  []txField // of the serialized transaction
	Ref     link
	Value   amount
	Owner   []ownerLink // values of the most important index
	Assets  []assetAmount
	Spent   *link // nil: unspent or unknown
	Height  link  // of the spending transaction
	Unspent bool
	Created uint32 // height
}

// txField is a part of a serialized transaction.
type txField struct{ Name, Text string }

// maxField is the number of characters of a field that the page shows.
const maxField = 2000

func shownField(name, text string) txField {
	if len(text) > maxField {
		text = text[:maxField] + "…"
	}
	return txField{name, text}
}

// inputFields returns what only the serialized transaction has of an input.
func inputFields(in *query.InputAnswer) (fields []txField) {
	if in.InputDetails == nil || in.Sequence == nil {
		return nil
	}
	fields = append(fields, txField{"sequence", fmt.Sprintf("0x%08x", *in.Sequence)})
	if *in.ScriptSig != "" {
		fields = append(fields, shownField("script", *in.ScriptSig))
	}
	for i, item := range in.Witness {
		if i == maxItems {
			return append(fields, txField{"witness", humanize.Count(len(in.Witness)-i) + " more items"})
		}
		fields = append(fields, shownField("witness", item))
	}
	return fields
}

// maxItems is the number of witness items of an input that the page shows.
const maxItems = 20

// ownerLink is a value of an index that an output has.
type ownerLink struct {
	Index string
	link
}

type assetAmount struct {
	link
	Name   string // name given by the issuer; may be empty
	Amount amount
	Action string // minted, burned; empty: neither
}

func (v *visit) tx() (*page, error) {
	a, err := v.Tx(v.ctx, v.req.PathValue("hash"))
	if err != nil {
		return v.unconfirmedTx(err)
	}
	p := &page{Kind: "tx", Title: "Transaction " + a.Hash, JSON: v.api("tx", a.Hash), Section: "blocks",
		Description: titleOf(v.chain.Model) + " transaction of " + humanize.Plural(len(a.Inputs), "input") + " and " + humanize.Plural(len(a.Outputs), "output") + ".",
		Crumbs:      []link{{v.URL("blocks"), "Blocks"}, v.HeightLink(a.Height), {Text: "Transaction"}}}
	b := &txBody{TxAnswer: a, Value: v.Amount(sum(a.Outputs)), InCount: len(a.Inputs), OutCount: len(a.Outputs)}
	switch {
	case a.BlockHash == "":
		b.Kind = "genesis"
		p.Crumbs = []link{{v.URL("blocks"), "Blocks"}, {Text: "Transaction"}}
	case a.Coinbase:
		b.Kind = "coinbase"
	}
	if a.BlockHash != "" {
		b.Block, b.Depth = link{v.BlockLink(a.BlockHash).URL, humanize.Count(a.Height)}, uint32(v.Tip.Height)-a.Height+1
		p.Crumbs[1] = b.Block
	}
	if a.Fee != "" && !a.Coinbase && a.BlockHash != "" {
		fee := v.Amount(a.Fee)
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

// raw adds the bytes of a transaction, its size and fee rate, if they are known.
func (v *visit) raw(b *txBody, a *query.TxAnswer) error {
	if a.Size == 0 {
		return nil
	}
	size, per := a.Size, "/B"
	if a.VSize > 0 {
		size, per = a.VSize, "/vB"
	}
	if b.Fee != nil && a.Fee != "0" && v.unit.Smallest != "" {
		b.Rate = feeRate(a.Fee, size) + " " + v.unit.Smallest + per
	}
	b.RawURL = v.api("tx", a.Hash, "raw")
	if a.Size > rawShown {
		return nil
	}
	raw, err := v.RawTx(v.ctx, a.Hash)
	if kind, code := model.KindOf(err); code == "no_raw" || kind == model.BadSource {
		b.RawURL = "" // the node answered a moment ago
		return nil
	}
	if err == nil {
		b.Raw = raw.Raw
	}
	return err
}

// feeRate formats a fee divided by a size with two decimals, three below 1.
func feeRate(fee string, size int) string {
	n, _ := strconv.ParseFloat(fee, 64) // cannot fail
	rate, digits := n/float64(size), 2
	switch {
	case rate < 0.0005:
		return "<0.001"
	case rate < 0.9995:
		digits = 3
	}
	return strconv.FormatFloat(rate, 'f', digits, 64)
}

// txParts adds the requested pages of inputs and outputs, and the mints.
func (v *visit) txParts(b *txBody, a *query.TxAnswer) error {
	in, err := v.number("inputs", 1)
	if err != nil {
		return err
	}
	out, err := v.number("outputs", 1)
	if err != nil {
		return err
	}
	base := v.URL("tx", a.Hash)
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
		row.Index, row.Fields = in.Index, inputFields(&in)
		for i := range row.Assets {
			row.Assets[i].Action = "" // belongs to the transaction of the output
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

func (v *visit) outputRow(o *query.OutputAnswer, n *naming) (outputRow, error) {
	row := outputRow{Index: o.Index, Ref: v.OutputLink(o.Tx, o.Index), Value: v.Amount(o.Value), Owner: v.owner(o), Created: o.Height}
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
	if o.OutputDetails != nil && o.Script != nil {
		row.Fields = []txField{{"type", o.Type}, shownField("script", *o.Script)}
	}
	switch {
	case o.SpentBy == nil:
	case o.SpentBy.Value == nil:
		row.Unspent = true
	default:
		spent := v.TxLink(o.SpentBy.Value.Tx)
		row.Spent, row.Height = &spent, v.HeightLink(o.SpentBy.Value.Height)
	}
	return row, nil
}

// owner returns the values of the most important index that the output has.
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
		links = append(links, ownerLink{index, v.ValueLink(index, value)})
	}
	return links
}

// valuesOf returns the values of one index among the keys of an output.
func valuesOf(key any) []string {
	switch key := key.(type) {
	case string:
		return []string{key}
	case []string:
		return key
	}
	return nil
}

// sum adds the amounts of outputs.
func sum(outputs []query.OutputAnswer) string {
	total, n := new(big.Int), new(big.Int)
	for i := range outputs {
		if _, ok := n.SetString(outputs[i].Value, 10); ok {
			total.Add(total, n)
		}
	}
	return total.String()
}

// assetCount returns the number of asset entries in outputs.
func assetCount(outputs []query.OutputAnswer) (n int) {
	for i := range outputs {
		n += len(outputs[i].Assets)
	}
	return n
}
