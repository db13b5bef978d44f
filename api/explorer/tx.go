package explorer

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/details"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	rowsPage   = 30      // inputs and outputs per page
	rowAssets  = 5       // assets of an input or output in a list
	ownerLong  = 200     // characters of an address in a list, in which a longer one is shown in part
	ownerRoom  = 16_000  // characters of the paths of such addresses on a page
	rawShown   = 4 << 10 // maximum size of a transaction shown in hex
	assetNames = 40      // assets per page with name and decimals
)

// txBody is one transaction.
type txBody struct {
	*query.TxAnswer
	Block    link // empty: genesis
	Depth    uint32
	Kind     string  // coinbase, genesis or empty
	Value    amount  // of all outputs
	Spent    *amount // value of all inputs; nil: none
	Replace  bool    // it signals that it can be replaced (BIP 125)
	Sections []details.Section
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
	Fields  []details.Field // of the serialized transaction
	Ref     link
	Value   amount
	Owner   []ownerLink // values of the most important index
	Assets  []assetAmount
	More    int   // assets that are not in Assets
	Spent   *link // nil: unspent or unknown
	Height  link  // of the spending transaction
	Unspent bool
	Created uint32 // height
	Fee     bool   // the output is the fee
}

// ownerLink is a value of an index that an output has.
type ownerLink struct {
	Index string
	link
	Label string // from [Options.Labels]
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
	p := &page{Kind: "tx", Title: "Transaction " + format.Abbreviate(a.Hash, nameEnds, nameEnds), JSON: v.api("tx", a.Hash), Section: "blocks",
		Description: titleOf(v.chain.Model) + " transaction of " + humanize.Plural(len(a.Inputs), "input") + " and " + humanize.Plural(len(a.Outputs), "output") + ".",
		Crumbs:      []link{{v.URL("blocks"), "Blocks"}, v.HeightLink(a.Height), {Text: "Transaction"}}}
	b := &txBody{TxAnswer: a, Value: v.Amount(formatTotal(a.Outputs)), InCount: len(a.Inputs), OutCount: len(a.Outputs)}
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
	if len(a.Inputs) > 0 {
		var total big.Int
		for i := range a.Inputs {
			total.Add(&total, format.Integer(a.Inputs[i].Output.Value))
			if in := a.Inputs[i].InputDetails; in != nil && in.Sequence != nil && *in.Sequence <= details.SignalsReplacement {
				b.Replace = true
			}
		}
		spent := v.Amount(total.String())
		b.Spent = &spent
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
	p.Body, p.LacksRaw = b, a.BlockHash != "" && v.lacksRaw()
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
		b.Rate = format.FeeRate(a.Fee, size) + " " + v.unit.Smallest + per
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
	n, d := v.naming(), v.detailer()
	d.Inscription = func(number int) string { return v.URL("tx", a.Hash, "inscription", strconv.Itoa(number)) }
	if err := v.findScripts(d, a); err != nil {
		return err
	}
	b.Sections = d.Sections(a, details.InscriptionsOf(v.chain.Model, a))
	for _, in := range a.Inputs[inFrom:inTo] {
		row, err := v.outputRow(&in.Output, n)
		if err != nil {
			return err
		}
		row.Index, row.Fields = in.Index, d.InputFields(&in, a.Redeemers)
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
		row.Fields = d.OutputFields(&a.Outputs[outFrom+i])
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

// detailer writes the details of a page.
func (v *visit) detailer() *details.Writer {
	return details.New(details.Links{
		Amount: func(n string) string { return v.Amount(n).String() },
		Output: func(ref string) string { return v.URL("output", ref) },
		Print:  v.printScript,
		Named:  v.namedIn(),
		Spent:  v.spentScript,
		Stake: func(address string) string {
			const index = "stake_credential"
			states, err := v.IndexStates(v.ctx)
			if err != nil || !slices.ContainsFunc(states, func(x query.IndexState) bool { return x.Name == index }) {
				return ""
			}
			return v.ValueLink(index, address).URL
		},
	})
}

// printScript returns a script in hex as text; empty if the chain does not write such scripts.
func (v *visit) printScript(language, digits string, most int) (text string, whole bool) {
	printer, ok := v.chain.Model.(model.ScriptPrinter)
	code, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return "", false
	}
	return printer.PrintScript(language, code, most)
}

// spentScript returns the script that the address of an output stands for; nil: it has none.
func (v *visit) spentScript(o *query.OutputAnswer) []byte {
	chain, ok := v.chain.Model.(model.Scripter)
	address, is := o.Keys["address"].(string)
	if !ok || !is {
		return nil
	}
	script, _ := chain.AddressScript(address) // nil for an address without a script
	return script
}

// scriptReads is the number of outputs in which a page looks for the scripts of redeemers.
const scriptReads = 10

// findScripts adds the scripts of redeemers that are in outputs, first in outputs that the transaction reads, then in
// outputs that it spends.
func (v *visit) findScripts(d *details.Writer, a *query.TxAnswer) error {
	missing := d.Known(a)
	outputs := slices.Clone(a.ReferenceInputs)
	for i := range a.Inputs {
		if len(missing) == 0 || len(outputs) > scriptReads {
			break
		}
		outputs = append(outputs, model.OutputReference{Tx: a.Inputs[i].Output.Tx, Index: a.Inputs[i].Output.Index})
	}
	for _, ref := range outputs[:min(len(outputs), scriptReads)] {
		if len(missing) == 0 {
			break
		}
		text := query.OutputRef(ref.Tx, ref.Index)
		o, err := v.Output(v.ctx, text)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			continue // an output that no block has, of a transaction whose scripts failed
		}
		if err != nil {
			return err
		}
		if o.OutputDetails != nil && o.ScriptRef != nil {
			d.Add(o.ScriptRef, text)
			missing = slices.DeleteFunc(missing, func(hash string) bool { return hash == o.ScriptRef.Hash })
		}
	}
	return nil
}

func (v *visit) outputRow(o *query.OutputAnswer, n *naming) (outputRow, error) {
	row := outputRow{Index: o.Index, Ref: v.OutputLink(o.Tx, o.Index), Value: v.Amount(o.Value), Owner: v.owner(o), Created: o.Height}
	fee := v.chain.Model.Traits().FeeAddress
	row.Fee = fee != "" && len(row.Owner) > 0 && row.Owner[0].Text == fee
	for i, e := range o.Assets {
		if i == n.most {
			row.More = len(o.Assets) - i
			break
		}
		entry, err := n.entry(e.Asset, e.Amount)
		if err != nil {
			return row, err
		}
		if e.Action == "mint" {
			entry.Action = "minted"
		}
		row.Assets = append(row.Assets, entry)
	}
	if n.most == rowAssets { // a list
		for i := range row.Owner {
			o := &row.Owner[i]
			if len(o.Text) <= ownerLong {
				continue
			}
			o.Text = format.Abbreviate(o.Text, ownerLong/2, nameEnds)
			if n.room -= len(o.URL); n.room < 0 {
				o.URL = row.Ref.URL // the page of the output has the link
			}
		}
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
		links = append(links, ownerLink{index, v.ValueLink(index, value), v.label(value)})
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

// formatTotal returns the sum of the amounts of outputs.
func formatTotal(outputs []query.OutputAnswer) string {
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
