package details

import (
	"fmt"
	"maps"
	"slices"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

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

	Content string // path of the content, for an inscription
	Picture bool   // the content is a picture
}

// Sections returns the parts of a transaction other than its inputs, outputs and mints.
func (d *Writer) Sections(a *query.TxAnswer, inscriptions []model.Inscription) (all []Section) {
	var now Section
	add := func(item func() Item) { // an item that is not shown takes no room
		if len(now.Items) == d.items || d.left <= 0 {
			d.shortened = true
			now.More++
			return
		}
		i := item()
		d.left -= itemRoom + len(i.Heading) + len(i.Text) + len(i.URL) + len(i.Content)
		now.Items = append(now.Items, i)
	}
	end := func(id, title string) {
		if len(now.Items)+now.More > 0 {
			now.ID, now.Title = id, title
			d.left -= groupRoom
			all = append(all, now)
		}
		now = Section{}
	}
	for i := range inscriptions {
		add(func() Item { return d.inscription(a.Hash, &inscriptions[i]) })
	}
	end("inscriptions", "Inscriptions")
	for _, label := range slices.SortedFunc(maps.Keys(a.Metadata), compareNames) {
		add(func() Item { return Item{Fields: d.Tree(nil, "label "+label, a.Metadata[label])} })
	}
	end("metadata", "Metadata")
	for i := range a.Certificates {
		add(func() Item {
			return Item{Heading: spaced(a.Certificates[i].Type), Fields: d.Certificate(&a.Certificates[i])}
		})
	}
	end("certificates", "Certificates")
	for _, w := range a.Withdrawals {
		add(func() Item {
			return Item{Text: w.Address, URL: d.Stake(w.Address), Fields: d.Field(nil, "amount", d.Amount(w.Amount))}
		})
	}
	end("withdrawals", "Withdrawals")
	for i := range a.Votes {
		add(func() Item { return Item{Fields: d.Vote(&a.Votes[i])} })
	}
	end("votes", "Votes")
	for i := range a.Proposals {
		add(func() Item {
			return Item{Heading: spaced(a.Proposals[i].Type), Fields: d.Proposal(&a.Proposals[i])}
		})
	}
	end("proposals", "Governance actions")
	for _, list := range []struct {
		id, title string
		refs      []model.OutputReference
	}{{"reference-inputs", "Reference inputs", a.ReferenceInputs}, {"collateral", "Collateral", a.Collateral}} {
		for _, ref := range list.refs {
			text := query.OutputRef(ref.Tx, ref.Index)
			add(func() Item { return Item{Text: text, URL: d.Output(text)} })
		}
		end(list.id, list.title)
	}
	for _, r := range a.Redeemers {
		add(func() Item {
			if r.Output == nil {
				return Item{Heading: fmt.Sprintf("%s %d", r.Purpose, r.Index), Fields: d.redeemer(nil, &r)}
			}
			text := query.OutputRef(r.Output.Tx, r.Output.Index) // its input shows the data
			return Item{Heading: r.Purpose, Text: text, URL: d.Output(text), Fields: d.budget(nil, &r)}
		})
	}
	end("redeemers", "Redeemers")
	for _, datum := range a.Datums {
		add(func() Item { return Item{Fields: d.Value(d.Field(nil, "hash", datum.Hash), "value", datum)} })
	}
	end("datums", "Datums")
	for _, s := range a.Scripts {
		add(func() Item {
			size := humanize.Plural(len(s.Raw)/2, "byte")
			fields := d.textOf(d.Field(nil, "hash", s.Hash), &s)
			return Item{Heading: spaced(s.Language) + ", " + size, Fields: d.Field(fields, "script", s.Raw)}
		})
	}
	end("scripts", "Scripts")
	for _, hash := range a.RequiredSigners {
		add(func() Item { return Item{Fields: d.Field(nil, "key hash", hash)} })
	}
	end("signers", "Required signers")
	for _, box := range a.DataInputs {
		add(func() Item { return Item{Text: box, URL: d.Output(box)} })
	}
	end("data-inputs", "Data inputs")
	return all
}
