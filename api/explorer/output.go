package explorer

import (
	"birthmark/internal/humanize"
)

// outputBody is the page of an output.
type outputBody struct {
	outputRow
	Tx     link
	Number int    // in the transaction
	Block  link   // empty: genesis
	Time   int64  // of the block; 0: genesis
	Depth  uint32 // confirmations; 0: genesis
	Keys   []ownerLink
	Input  string // of the spending transaction
}

// outputAssets is the number of assets on the page of an output, and wholeAssetsRoom that of their characters.
const (
	outputAssets    = 200
	wholeAssetsRoom = 25_000
)

// rest returns the characters that a page of an input or output has for its details.
func (r *outputRow) rest() int {
	n := pageRoom - frameRoom
	for i := range r.Assets {
		n -= r.Assets[i].taken()
	}
	for _, o := range r.Owner {
		n -= len(o.URL) + len(o.Text)
	}
	return n
}

// output is the page of an output, by TX:N or by the id that its chain has for it.
func (v *visit) output() (*page, error) {
	o, err := v.Output(v.ctx, v.req.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	n := v.naming()
	n.most, n.room = outputAssets, wholeAssetsRoom
	row, err := v.outputRow(o, n)
	if err != nil {
		return nil, err
	}
	row.Fields = v.detailer().Whole().Within(row.rest()).OutputFields(o)
	b := &outputBody{outputRow: row, Tx: v.TxLink(o.Tx), Number: o.Index, Block: v.HeightLink(o.Height), Time: o.BlockTime, Depth: o.Confirmations}
	for _, x := range v.chain.Model.Indexes() {
		b.Keys = append(b.Keys, v.owners(x.Name, valuesOf(o.Keys[x.Name]))...)
	}
	if o.SpentBy != nil && o.SpentBy.Value != nil {
		b.Input = humanize.Count(o.SpentBy.Value.Input)
	}
	number := humanize.Count(o.Index)
	return &page{Kind: "output", Title: "Output " + row.Ref.Text, JSON: v.api("output", row.Ref.Text), Section: "blocks", Body: b,
		LacksRaw:    b.Depth > 0 && v.lacksRaw(),
		Description: "Output " + number + " of a " + titleOf(v.chain.Model) + " transaction: " + row.Value.String() + ".",
		Crumbs:      []link{{v.URL("blocks"), "Blocks"}, b.Block, {b.Tx.URL, "Transaction"}, {Text: "Output " + number}}}, nil
}
