package ergoexplorer

import (
	"encoding/json"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
)

const (
	maxItems  = 500 // of a page
	maxTokens = 100 // boxes of a token in a page
	someItems = 20  // of a page without a parameter limit
)

// page is the window of a list.
type page struct {
	offset, limit int
	ascending     bool
}

// pageOf returns the parameters of a list.
func pageOf(r *request, most int) (p page) {
	p.offset, _ = number(r, "offset")
	var given bool
	if p.limit, given = number(r, "limit"); !given {
		p.limit = someItems
	}
	if p.limit > most || p.limit < 1 {
		r.Refuse(bad("limit is %d: expected 1 to %d", p.limit, most))
	}
	p.ascending = boxes.Ascending(r, errDirection)
	return p
}

// window returns a page of a list.
func window[T any](all []T, offset, limit int) []T {
	all = all[min(offset, len(all)):]
	return all[:min(max(0, limit), len(all))]
}

// number returns a parameter that is a number; given is false if it is absent.
func number(r *request, name string) (n int, given bool) { return boxes.Number(r, name, 48) }

// required returns a parameter that is a number, which must be there.
func required(r *request, name string) int {
	n, given := number(r, name)
	if !given {
		r.Refuse(bad("%s is missing", name))
	}
	return n
}

// content decodes the body of the request.
func content(r *request, v any) {
	if err := json.Unmarshal(r.Content(), v); err != nil {
		r.Refuse(bad("the body: %s", err))
	}
}

func parseID(r *request, text string) sigma.ID {
	id, ok := boxes.ParseID(text)
	if !ok {
		r.Refuse(bad("%q is not an id: expected 64 hex digits", text))
	}
	return id
}

// idArg returns an id of the path.
func idArg(r *request, name string) sigma.ID {
	text, _ := r.Arg(name)
	return parseID(r, text)
}

// finder finds the boxes of an argument.
type finder func(*view) (*boxes.Holder, error)

// ofAddress finds the boxes with the tree of an address.
func (p *protocol) ofAddress(r *request) finder {
	text, _ := r.Arg("address")
	return p.holderOf(r, text)
}

func (p *protocol) holderOf(r *request, address string) finder {
	stored, err := p.AddressIndex().Parse(address)
	if err != nil {
		r.Refuse(bad("%s", err))
		return nil
	}
	tree := ergo.AddressTree(stored)
	return func(v *view) (*boxes.Holder, error) { return v.HolderOf(tree) }
}

// ofTree finds the boxes of a tree in hex.
func ofTree(r *request) finder {
	text, _ := r.Arg("tree")
	tree, err := boxes.ParseTree(text)
	if err != nil {
		r.Refuse(err)
	}
	return func(v *view) (*boxes.Holder, error) { return v.HolderOf(tree) }
}

// ofTemplate finds the boxes of a template.
func ofTemplate(r *request) finder {
	hash := idArg(r, "hash")
	return func(v *view) (*boxes.Holder, error) { return v.Template(hash) }
}
