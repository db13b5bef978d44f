package explorer

import (
	"encoding/hex"
	"slices"
	"strconv"

	"birthmark/api/explorer/details"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// txPartBody is a page with details of a transaction for which its own page has no room.
type txPartBody struct {
	Tx       link
	Input    *outputRow // with its details; nil: the other details of the transaction
	Mints    []assetAmount
	More     int // minted and burned assets that are not in Mints
	Sections []details.Section
}

const mintsWhole = 60 // minted and burned assets on the page of all details

// input is the page of an input, with all its details.
func (v *visit) input(a *query.TxAnswer, p *page) (*page, error) {
	number, err := v.number("input", 0)
	if err != nil {
		return nil, err
	}
	if number >= len(a.Inputs) {
		return nil, model.Errorf(model.NotFound, "unknown_page", "no input %d: the transaction has %s, numbered from 0", number, humanize.Plural(len(a.Inputs), "input"))
	}
	n := v.naming()
	n.most, n.room = outputAssets, wholeAssetsRoom
	row, err := v.inputRow(&a.Inputs[number], n)
	if err != nil {
		return nil, err
	}
	d, err := v.detailsOf(a)
	if err != nil {
		return nil, err
	}
	row.Fields = d.Whole().Within(row.rest()).InputFields(&a.Inputs[number], a.Redeemers)
	v.partOf(p, "Input "+humanize.Count(number), &txPartBody{Tx: v.TxLink(a.Hash), Input: &row})
	return p, nil
}

// allDetails is the page of the details of a transaction other than those of its inputs and outputs.
func (v *visit) allDetails(a *query.TxAnswer, p *page) (*page, error) {
	b := &txPartBody{Tx: v.TxLink(a.Hash)}
	var err error
	if b.Mints, b.More, err = v.mints(a, mintsWhole); err != nil {
		return nil, err
	}
	d, err := v.detailsOf(a)
	if err != nil {
		return nil, err
	}
	room := pageRoom - frameRoom
	for i := range b.Mints {
		room -= b.Mints[i].taken()
	}
	b.Sections = d.Whole().Within(room).Sections(a, details.InscriptionsOf(v.chain.Model, a))
	v.partOf(p, "Details", b)
	return p, nil
}

// partOf makes a page one of a part of a transaction.
func (v *visit) partOf(p *page, title string, b *txPartBody) {
	p.Kind, p.Body, p.Title = "txpart", b, title+" of "+p.Title
	if n := len(p.Crumbs); n > 0 {
		p.Crumbs[n-1].URL = b.Tx.URL
	}
	p.Crumbs = append(p.Crumbs, link{Text: title})
}

// detailsOf returns the writer of the details of a transaction.
func (v *visit) detailsOf(a *query.TxAnswer) (*details.Writer, error) {
	d := v.detailer()
	d.Inscription = func(number int) string { return v.URL("tx", a.Hash, "inscription", strconv.Itoa(number)) }
	return d, v.findScripts(d, a)
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
