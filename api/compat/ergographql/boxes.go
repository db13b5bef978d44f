package ergographql

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/api/problem"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Limits of a list.
const (
	maxTake     = 200
	maxValues   = 20      // of a condition
	maxExamined = 100_000 // boxes that are compared with conditions that no index answers
)

// boxArgs are the conditions on boxes of the chain and of the mempool.
type boxArgs struct {
	BoxID, Address, ErgoTree, ErgoTreeTemplateHash, TokenID *string
	BoxIDs, Addresses, ErgoTrees                            *[]string
	Skip, Take                                              int32
}

// chainBoxArgs are the conditions on boxes of the chain.
type chainBoxArgs struct {
	boxArgs
	Spent                *bool
	MinHeight, MaxHeight *int32
	HeightType           string
}

func bad(format string, args ...any) error {
	return problem.New(http.StatusBadRequest, "bad_request", format, args...)
}

// window reads skip and take.
func window(skip, take int32) (offset, limit int, err error) {
	if skip < 0 || take < 1 || take > maxTake {
		return 0, 0, bad("skip: expected a number from 0 on; take: expected 1 to %d", maxTake)
	}
	return int(skip), int(take), nil
}

// merged returns the values of a list and of a single argument.
func merged(list *[]string, one *string) (all []string, err error) {
	if list != nil {
		all = append(all, *list...)
	}
	if one != nil {
		all = append(all, *one)
	}
	if len(all) > maxValues {
		return nil, bad("a condition has %d values: expected at most %d", len(all), maxValues)
	}
	return all, nil
}

// parseID reads an id.
func parseID(text string) (sigma.ID, error) {
	id, ok := boxes.ParseID(text)
	if !ok {
		return id, bad("%q is not an id: expected 64 hex digits", text)
	}
	return id, nil
}

func parseIDs(texts []string) ([]sigma.ID, error) {
	ids := make([]sigma.ID, len(texts))
	for i, text := range texts {
		var err error
		if ids[i], err = parseID(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// conditions are parsed arguments. A list without values is no condition.
type conditions struct {
	ids             []sigma.ID
	trees           []boxes.Holder
	template, token *sigma.ID
	spent           *bool
	minimum         int
	maximum         int // -1: none
	creation        bool
	offset, limit   int
}

func (q *request) conditions(a *boxArgs) (c conditions, err error) {
	c.maximum = -1
	if c.offset, c.limit, err = window(a.Skip, a.Take); err != nil {
		return c, err
	}
	texts, err := merged(a.BoxIDs, a.BoxID)
	if err != nil {
		return c, err
	}
	if c.ids, err = parseIDs(texts); err != nil {
		return c, err
	}
	if c.trees, err = q.trees(a); err != nil {
		return c, err
	}
	for text, to := range map[*string]**sigma.ID{a.ErgoTreeTemplateHash: &c.template, a.TokenID: &c.token} {
		if text == nil {
			continue
		}
		id, err := parseID(*text)
		if err != nil {
			return c, err
		}
		*to = &id
	}
	return c, nil
}

// trees returns the scripts of a condition, each once.
func (q *request) trees(a *boxArgs) (trees []boxes.Holder, err error) {
	add := func(tree []byte) error {
		h, err := q.v.HolderOf(tree)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(trees, func(x boxes.Holder) bool { return string(x.Value) == string(h.Value) }) {
			trees = append(trees, *h)
		}
		return nil
	}
	addresses, err := merged(a.Addresses, a.Address)
	if err != nil {
		return nil, err
	}
	for _, text := range addresses {
		stored, err := q.Chain.AddressIndex().Parse(text)
		if err != nil {
			return nil, err
		}
		if err := add(ergo.AddressTree(stored)); err != nil {
			return nil, err
		}
	}
	texts, err := merged(a.ErgoTrees, a.ErgoTree)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		tree, err := boxes.ParseTree(text)
		if err != nil {
			return nil, err
		}
		if err := add(tree); err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// meets reports whether a box meets all conditions.
func (c *conditions) meets(b *boxes.Box) bool {
	height := b.Height()
	if c.creation {
		height = int(b.Box().Height)
	}
	switch {
	case len(c.ids) > 0 && !slices.Contains(c.ids, b.ID()),
		len(c.trees) > 0 && !slices.ContainsFunc(c.trees, func(h boxes.Holder) bool { return h.Owns(b) }),
		c.token != nil && !slices.ContainsFunc(b.Box().Tokens, func(t sigma.Token) bool { return t.ID == *c.token }),
		c.spent != nil && *c.spent != (b.Spend != nil),
		height < c.minimum, c.maximum >= 0 && height > c.maximum:
		return false
	}
	if c.template == nil {
		return true
	}
	hash, ok := templateOf(b)
	return ok && hash == *c.template
}

// templateOf returns the hash of the template of a box; ok is false if its tree cannot be parsed.
func templateOf(b *boxes.Box) (hash sigma.ID, ok bool) {
	tree, err := sigma.ParseTree(b.Box().Tree)
	return sha256.Sum256(tree.Template), err == nil
}

// Boxes resolves a field of the schema.
func (*root) Boxes(ctx context.Context, a chainBoxArgs) ([]box, error) {
	return read(ctx, func(q *request) ([]box, error) {
		c, err := q.conditions(&a.boxArgs)
		if err != nil {
			return nil, err
		}
		c.spent, c.creation = a.Spent, a.HeightType == "creation"
		if a.MinHeight != nil {
			c.minimum = int(*a.MinHeight)
		}
		if a.MaxHeight != nil {
			c.maximum = max(0, int(*a.MaxHeight))
		}
		pks, err := q.find(c)
		if err != nil {
			return nil, err
		}
		all, err := q.v.AllBoxes(pks)
		if err != nil {
			return nil, err
		}
		return q.boxes(all)
	})
}

// find returns the boxes of the chain that meet conditions, newest first. An index answers one of the conditions; boxes
// are compared with the others.
func (q *request) find(c conditions) ([]model.UtxoPk, error) {
	if len(c.ids) > 0 {
		return q.findAmong(c)
	}
	unspent := c.spent != nil && !*c.spent
	var lists []*boxes.List
	of := func(h *boxes.Holder) {
		switch {
		case h.Birth == nil:
		case unspent:
			lists = append(lists, q.v.UnspentList(h.Index, *h.Birth, true, true))
		default:
			lists = append(lists, q.v.BoxList(h.Index, *h.Birth, true, true))
		}
	}
	rest := c
	switch {
	case len(c.trees) > 0:
		rest.trees = nil
		for i := range c.trees {
			of(&c.trees[i])
		}
	case c.token != nil:
		rest.token = nil
		birth, _, ok, err := q.v.AssetTotals(*c.token)
		if err != nil {
			return nil, err
		}
		if ok {
			lists = append(lists, q.v.AssetList(birth, unspent, true))
		}
	case c.template != nil:
		rest.template = nil
		h, err := q.v.Template(*c.template)
		if err != nil {
			return nil, err
		}
		of(h)
	default:
		return nil, bad("boxes: a condition on boxId, address, ergoTree, ergoTreeTemplateHash or tokenId is required")
	}
	if unspent {
		rest.spent = nil
	}
	if len(lists) == 0 {
		return nil, nil
	}
	l := boxes.Union(lists)
	if rest.token != nil || rest.template != nil || rest.spent != nil || rest.minimum > 0 || rest.maximum >= 0 {
		l = l.Where(q.filter(&rest))
	}
	return q.v.Window(l, c.offset, c.limit)
}

// filter keeps the boxes that meet conditions.
func (q *request) filter(c *conditions) func([]model.UtxoPk) ([]model.UtxoPk, error) {
	examined := 0
	return func(pks []model.UtxoPk) (kept []model.UtxoPk, err error) {
		if examined += len(pks); examined > maxExamined {
			return nil, bad("more than %d boxes would be compared: use conditions that fewer boxes meet", maxExamined)
		}
		all, err := q.v.AllBoxes(pks)
		for i := range all {
			if c.meets(&all[i]) {
				kept = append(kept, pks[i])
			}
		}
		return kept, err
	}
}

// findAmong returns the boxes with ids that meet all other conditions too.
func (q *request) findAmong(c conditions) ([]model.UtxoPk, error) {
	found, err := q.v.BoxesOf(c.ids)
	if err != nil {
		return nil, err
	}
	var pks []model.UtxoPk
	for _, pk := range found {
		if pk != nil {
			pks = append(pks, *pk)
		}
	}
	slices.SortFunc(pks, func(a, b model.UtxoPk) int { return cmp.Compare(b, a) })
	pks, err = q.filter(&c)(slices.Compact(pks))
	return page(pks, c.offset, c.limit), err
}

// page returns the items of a window.
func page[T any](all []T, offset, limit int) []T {
	all = all[min(offset, len(all)):]
	return all[:min(limit, len(all))]
}

// box is a Box or an UnconfirmedBox.
type box struct {
	BoxID, TransactionID, Value, ErgoTree, Address string
	Index, CreationHeight                          int32
	ErgoTreeTemplateHash                           *string
	Assets                                         []asset
	AdditionalRegisters                            object
	BeingSpent                                     bool

	HeaderID, GlobalIndex string
	SettlementHeight      int32
	MainChain             bool
}

type asset struct {
	TokenID, Amount string
	Index           int32
}

// boxes returns boxes as the schema has them.
func (q *request) boxes(all []boxes.Box) ([]box, error) {
	out := make([]box, len(all))
	for i := range all {
		b := &all[i]
		content := b.Box()
		id := b.ID()
		out[i] = box{
			BoxID: hex.EncodeToString(id[:]), TransactionID: b.Tx.ID.String(), Value: strconv.FormatUint(content.Value, 10),
			ErgoTree: hex.EncodeToString(content.Tree), Address: q.v.Address(b.Tx, b.Pos), Index: int32(b.Pos),
			CreationHeight: int32(content.Height), Assets: make([]asset, len(content.Tokens)), AdditionalRegisters: object{},
		}
		if hash, ok := templateOf(b); ok {
			text := hex.EncodeToString(hash[:])
			out[i].ErgoTreeTemplateHash = &text
		}
		for n, t := range content.Tokens {
			out[i].Assets[n] = asset{hex.EncodeToString(t.ID[:]), strconv.FormatUint(t.Amount, 10), int32(n)}
		}
		for n, raw := range content.Additional() {
			out[i].AdditionalRegisters[fmt.Sprintf("R%d", n)] = hex.EncodeToString(raw)
		}
		spend, err := q.v.PendingSpend(b)
		if err != nil {
			return nil, err
		}
		out[i].BeingSpent = spend != nil
		if b.Unconfirmed {
			continue
		}
		number, err := q.v.BoxNumber(b.Pk)
		if err != nil {
			return nil, err
		}
		header, err := q.v.HeaderOf(b)
		if err != nil {
			return nil, err
		}
		out[i].HeaderID, out[i].GlobalIndex = header.String(), strconv.FormatUint(number, 10)
		out[i].SettlementHeight, out[i].MainChain = int32(b.Height()), true
	}
	return out, nil
}
