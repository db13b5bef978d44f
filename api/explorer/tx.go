package explorer

import (
	"math/big"
	"strconv"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/details"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	rowsPage   = 20      // inputs and outputs per page
	rowAssets  = 5       // assets of an input or output in a list
	mintsPage  = 10      // minted and burned assets on the page of a transaction
	rawShown   = 2 << 10 // maximum size of a transaction shown in hex
	assetNames = 40      // assets per page with name and decimals

	rowAssetsRoom = 6_000 // characters of all assets of a list with their markup
	txLongRoom    = 5_000 // characters of the paths of long values on the page of a transaction
)

// Characters of a page of a transaction. What its lists leave is for the details.
var pageRoom = 56_000

const (
	frameRoom  = 10_500 // head, facts, headings and foot
	streamRoom = 400    // of a ribbon
	rowRoom    = 410    // markup of an input or output
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
	More     int    // minted and burned assets that are not in Mints
	Numbers  bool   // the details of some inputs or outputs are on their own pages
	Whole    link   // page with all details other than those of inputs and outputs; empty: all are shown
	Raw      string // hex; empty: not stored, or too long
	RawURL   string // path of the bytes; empty: not stored
}

type outputRow struct {
	Index   int
	Fields  []details.Field // of the serialized transaction
	Page    string          // path of the page of an input; empty: it has none
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
	switch {
	case v.query("input") != "":
		return v.input(a, p)
	case v.query("details") != "":
		return v.allDetails(a, p)
	}
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
	v.long = longRoom - txLongRoom
	n := v.naming()
	n.room = rowAssetsRoom / 2
	for _, in := range a.Inputs[inFrom:inTo] {
		row, err := v.inputRow(&in, n)
		if err != nil {
			return err
		}
		b.Inputs = append(b.Inputs, row)
	}
	n.room = max(0, n.room) + rowAssetsRoom/2
	for i := range a.Outputs[outFrom:outTo] {
		row, err := v.outputRow(&a.Outputs[outFrom+i], n)
		if err != nil {
			return err
		}
		b.Outputs = append(b.Outputs, row)
	}
	if b.Mints, b.More, err = v.mints(a, mintsPage); err != nil {
		return err
	}
	d, err := v.detailsOf(a)
	if err != nil {
		return err
	}
	d.Within(pageRoom - b.taken())
	d.More = v.URL("tx", a.Hash) + "?details=all"
	b.Sections = d.Sections(a, details.InscriptionsOf(v.chain.Model, a))
	if d.Shortened() || b.More > 0 {
		b.Whole = link{d.More, "All details"}
	}
	for i := range b.Inputs {
		in, row := &a.Inputs[inFrom+i], &b.Inputs[i]
		page := "?input=" + strconv.Itoa(in.Index)
		d.More = page
		var fit bool
		if row.Fields, fit = d.Fitting(func() []details.Field { return d.InputFields(in, a.Redeemers) }); !fit {
			row.Page, b.Numbers = page, true
		}
	}
	for i := range b.Outputs {
		o, row := &a.Outputs[outFrom+i], &b.Outputs[i]
		d.More = row.Ref.URL
		var fit bool
		if row.Fields, fit = d.Fitting(func() []details.Field { return d.OutputFields(o) }); !fit {
			b.Numbers = true
		}
	}
	return nil
}

// inputRow returns the row of an input without its details.
func (v *visit) inputRow(in *query.InputAnswer, n *naming) (outputRow, error) {
	row, err := v.outputRow(&in.Output, n)
	row.Index = in.Index
	for i := range row.Assets {
		row.Assets[i].Action = "" // belongs to the transaction of the output
	}
	return row, err
}

// mints returns the first minted and burned assets of a transaction, and how many others there are.
func (v *visit) mints(a *query.TxAnswer, most int) (list []assetAmount, more int, err error) {
	n := v.naming()
	for i, m := range a.Mints {
		if i == most {
			return list, len(a.Mints) - i, nil
		}
		entry, err := n.entry(m.Asset, m.Amount)
		if err != nil {
			return nil, 0, err
		}
		entry.Action = "minted"
		if m.Amount[0] == '-' {
			entry.Action = "burned"
		}
		list = append(list, entry)
	}
	return list, 0, nil
}

// taken returns the characters of the page without details, approximately.
func (b *txBody) taken() int {
	n := frameRoom + len(b.Raw)
	for _, s := range b.Flow.Ribbons() {
		n += streamRoom + len(s.URL) + len(s.Whole)
	}
	for i := range b.Inputs {
		n += b.Inputs[i].taken()
	}
	for i := range b.Outputs {
		n += b.Outputs[i].taken()
	}
	for i := range b.Mints {
		n += b.Mints[i].taken()
	}
	return n
}

// taken returns the characters of a row, approximately.
func (r *outputRow) taken() int {
	n := rowRoom + len(r.Ref.URL) + len(r.Ref.Text)
	for _, o := range r.Owner {
		n += len(o.URL) + len(link{Text: o.Text}.Shown()) + len(o.Label)
	}
	for i := range r.Assets {
		n += r.Assets[i].taken()
	}
	if r.Spent != nil {
		n += len(r.Spent.URL) + len(r.Spent.Text) + len(r.Height.URL)
	}
	return n
}

// taken returns the characters of an asset in a list, approximately.
func (e *assetAmount) taken() int {
	if e.Name != "" {
		return assetMarkup + len(e.URL) + len(e.Name)
	}
	return assetMarkup + len(e.URL) + len(e.Text)
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
		if n.room -= entry.taken(); n.room < 0 {
			row.More = len(o.Assets) - i
			break
		}
		if e.Action == "mint" {
			entry.Action = "minted"
		}
		row.Assets = append(row.Assets, entry)
	}
	if n.most == rowAssets { // a list
		row.Owner = v.listed(row.Owner, row.Ref.URL)
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
