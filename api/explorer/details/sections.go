package details

import (
	"fmt"
	"maps"
	"slices"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// maxItems is the number of entries of a section that a page shows.
const maxItems = 20

// Section is a list of parts of a transaction.
type Section struct {
	ID, Title string
	Items     []Item
	More      int // items that are not shown
}

// Item is one entry: a heading or a link, and fields.
type Item struct {
	Heading string
	Text    string // of the link
	URL     string // empty: none
	Fields  []Field
}

// Sections returns the parts of a transaction other than its inputs, outputs and mints.
func (d *Writer) Sections(a *query.TxAnswer) (all []Section) {
	var now Section
	add := func(item Item) {
		if len(now.Items) == maxItems {
			now.More++
			return
		}
		now.Items = append(now.Items, item)
	}
	end := func(id, title string) {
		if len(now.Items) > 0 {
			now.ID, now.Title = id, title
			all = append(all, now)
		}
		now = Section{}
	}
	for _, label := range slices.Sorted(maps.Keys(a.Metadata)) {
		add(Item{Fields: d.Field(nil, "label "+label, PrettyJSON(a.Metadata[label]))})
	}
	end("metadata", "Metadata")
	for i := range a.Certificates {
		add(Item{Heading: spaced(a.Certificates[i].Type), Fields: d.Certificate(&a.Certificates[i])})
	}
	end("certificates", "Certificates")
	for _, w := range a.Withdrawals {
		add(Item{Text: w.Address, URL: d.Stake(w.Address), Fields: d.Field(nil, "amount", d.Amount(w.Amount))})
	}
	end("withdrawals", "Withdrawals")
	for _, list := range []struct {
		id, title string
		refs      []model.OutputReference
	}{{"reference-inputs", "Reference inputs", a.ReferenceInputs}, {"collateral", "Collateral", a.Collateral}} {
		for _, ref := range list.refs {
			text := query.OutputRef(ref.Tx, ref.Index)
			add(Item{Text: text, URL: d.Output(text)})
		}
		end(list.id, list.title)
	}
	for _, r := range a.Redeemers {
		fields := d.Field(nil, "limits", humanize.Count(r.Memory)+" memory units, "+humanize.Count(r.Steps)+" steps")
		if r.Output != nil { // its input shows the data
			text := query.OutputRef(r.Output.Tx, r.Output.Index)
			add(Item{Heading: r.Purpose, Text: text, URL: d.Output(text), Fields: fields})
			continue
		}
		add(Item{Heading: fmt.Sprintf("%s %d", r.Purpose, r.Index), Fields: d.Value(fields, "data", r.Data)})
	}
	end("redeemers", "Redeemers")
	for _, datum := range a.Datums {
		add(Item{Fields: d.Value(d.Field(nil, "hash", datum.Hash), "value", datum)})
	}
	end("datums", "Datums")
	for _, s := range a.Scripts {
		size := humanize.Plural(len(s.Raw)/2, "byte")
		add(Item{Heading: spaced(s.Language) + ", " + size, Fields: d.Field(d.Field(nil, "hash", s.Hash), "script", s.Raw)})
	}
	end("scripts", "Scripts")
	for _, hash := range a.RequiredSigners {
		add(Item{Fields: d.Field(nil, "key hash", hash)})
	}
	end("signers", "Required signers")
	for _, box := range a.DataInputs {
		add(Item{Text: box, URL: d.Output(box)})
	}
	end("data-inputs", "Data inputs")
	return all
}
