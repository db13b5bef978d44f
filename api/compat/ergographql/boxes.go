package ergographql

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

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
