package ergonode

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/schema"
	"birthmark/model"
)

// page is the window of a list.
type page struct {
	offset, limit int
	ascending     bool

	unconfirmed, unspent bool // includeUnconfirmed, excludeMempoolSpent
}

const maxItems = 16384 // of a page

// pageOf returns the parameters of a list, which has a limit otherwise. what names its items in errors.
func pageOf(r *request, what string, otherwise int) page {
	p := page{offset: numberOr(r, "offset", 0), limit: numberOr(r, "limit", otherwise)}
	if p.limit > maxItems {
		r.Refuse(bad("No more than %d %s can be requested", maxItems, what))
	}
	p.ascending = boxes.Ascending(r, errDirection)
	p.unconfirmed, p.unspent = boxes.Flag(r, "includeUnconfirmed"), boxes.Flag(r, "excludeMempoolSpent")
	return p
}

// Limits of pages without a parameter limit.
const (
	fewItems  = 5
	someItems = 50
)

// numberOr returns a parameter that is a number.
func numberOr(r *request, name string, otherwise int) int {
	if n, ok := boxes.Number(r, name, 32); ok {
		return n
	}
	return otherwise
}

// heightOr returns a parameter that is a number with a sign.
func heightOr(r *request, name string, otherwise int) int {
	text := r.Param(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		r.Refuse(bad("%s: expected a number from %d to %d", name, math.MinInt32, math.MaxInt32))
	}
	return int(n)
}

// numberArg returns a number of the path with at most some bits.
func numberArg(r *request, name string, bits int) int {
	text, _ := r.Arg(name)
	n, err := boxes.ParseNumber(name, text, bits)
	if err != nil {
		r.Refuse(err)
	}
	return n
}

// textArg returns the only argument of a path, or the body of a POST: a JSON string, or text without quotes.
func textArg(r *request, name string) string {
	if r.Method != http.MethodPost {
		text, _ := r.Arg(name)
		return text
	}
	text := strings.TrimSpace(string(r.Content()))
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal([]byte(text), &text); err != nil {
			r.Refuse(bad("the body is not a JSON string: %s", err))
		}
	}
	return text
}

func parseID(r *request, text string) sigma.ID {
	id, ok := boxes.ParseID(text)
	if !ok {
		r.Refuse(bad("Wrong modifierId format: expected 64 hex digits"))
	}
	return id
}

// idArg returns an id of the path.
func idArg(r *request, name string) sigma.ID {
	text, _ := r.Arg(name)
	return parseID(r, text)
}

// bodyIDs returns the ids of a body that is a list of them.
func bodyIDs(r *request) []sigma.ID {
	var texts []string
	if err := json.Unmarshal(r.Content(), &texts); err != nil {
		r.Refuse(bad("the body is not a JSON list of ids: %s", err))
	}
	if len(texts) > maxItems {
		r.Refuse(bad("No more than %d ids can be requested", maxItems))
		return nil
	}
	ids := make([]sigma.ID, len(texts))
	for i, text := range texts {
		ids[i] = parseID(r, text)
	}
	return ids
}

// treeArg returns the ErgoTree of the argument tree, or of the body.
func treeArg(r *request) []byte {
	tree, err := boxes.ParseTree(textArg(r, "tree"))
	if err != nil {
		r.Refuse(err)
	}
	return tree
}

// storedArg returns the value of the index of addresses for the argument address, or for the body.
func (p *protocol) storedArg(r *request) []byte {
	stored, err := p.AddressIndex().Parse(textArg(r, "address"))
	if err != nil {
		r.Refuse(bad("%s", err))
	}
	return stored
}

// addressArg returns the ErgoTree of the argument address, or of the body.
func (p *protocol) addressArg(r *request) []byte {
	stored := p.storedArg(r)
	if stored == nil {
		return nil
	}
	return ergo.AddressTree(stored)
}

// finder finds the boxes of an argument.
type finder func(*view) (*holder, error)

// holder has boxes of the chain and the mempool.
type holder struct {
	*boxes.Holder
	pending func() ([]boxes.Box, error)
}

func ofTree(r *request) finder { return holderOf(treeArg(r)) }

func (p *protocol) ofAddress(r *request) finder { return holderOf(p.addressArg(r)) }

func holderOf(tree []byte) finder {
	return func(v *view) (*holder, error) {
		h, err := v.HolderOf(tree)
		return &holder{h, func() ([]boxes.Box, error) { return v.PendingBoxes(h.Index.Name, h.Value) }}, err
	}
}

// ofTemplate finds the boxes of a template by the node's hash of it.
func ofTemplate(r *request) finder {
	hash := idArg(r, "hash")
	return func(v *view) (*holder, error) {
		x, birth, err := v.NodeTemplate(hash)
		return &holder{&boxes.Holder{Index: x, Birth: birth}, func() ([]boxes.Box, error) { return v.pendingOfTemplate(x, birth, hash) }}, err
	}
}

// pendingOfTemplate returns the unconfirmed boxes of a template, which are found by the value of the index. A template that
// no block has yet is compared with those of all.
func (v *view) pendingOfTemplate(x *schema.Index, birth *model.BirthPk, hash sigma.ID) ([]boxes.Box, error) {
	if birth != nil {
		values, err := v.Q.StoredValues(x, []model.BirthPk{*birth})
		if err != nil {
			return nil, err
		}
		return v.PendingBoxes(x.Name, values[0])
	}
	all, err := v.AllPendingBoxes()
	return slices.DeleteFunc(all, func(b boxes.Box) bool { return boxes.NodeTemplateOf(b.Box().Tree) != hash }), err
}
