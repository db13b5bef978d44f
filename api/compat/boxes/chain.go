package boxes

import (
	"context"

	"birthmark/api/bounded"
	"birthmark/api/served"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Names of the indexes that the APIs read, and the options that they need.
const (
	AddressIndex  = "address"
	BoxIndex      = "box_id"
	TreeIndex     = "ergo_tree_hash"
	TemplateIndex = "ergo_tree_template_hash"

	all = schema.FeatureBalance | schema.FeatureUnspent | schema.FeatureHistory
)

// Needs lists the indexes and abilities of nodes that the APIs read.
var Needs = served.Needs{Chain: ergo.Name, Preset: "ergo_node", Node: "http://127.0.0.1:9053", Parts: []served.Need{
	{Index: AddressIndex}, {Index: BoxIndex}, {Index: TreeIndex, Options: all}, {Index: TemplateIndex, Options: all},
	{Raw: true},
	{Node: served.Can[Node], Without: "submitting transactions, and the state of the node"},
	{Mempool: true, Without: "unconfirmed transactions"},
}}

// Chain answers for one served chain of Ergo. It is safe for concurrent use.
type Chain struct {
	*served.Chain
	Network string

	genesis   []*Tx // of each genesis box, by its position
	numbers   numberTable
	templates templateMap
	txs       bounded.Cache[model.Hash, *Tx]
	blocks    bounded.Cache[blockKey, *Block]
	addresses bounded.Cache[string, string]    // of trees
	places    bounded.Cache[place, placeOf]    // where windows of lists begin
	tokens    bounded.Cache[model.Hash, Token] // by the transaction that mints
	mintings  bounded.Cache[sigma.ID, minting]
}

// New returns the answers of a served chain, which must fulfil [Needs].
func New(c *served.Chain) (*Chain, error) {
	b := &Chain{
		Chain: c, Network: c.Model.Network(),
		txs:       bounded.Cache[model.Hash, *Tx]{Max: 64 << 20, Size: (*Tx).memory},
		blocks:    bounded.Cache[blockKey, *Block]{Max: 16 << 20, Size: (*Block).memory},
		addresses: bounded.Cache[string, string]{Max: 4 << 20, Size: func(text string) int { return 2 * len(text) }},
		places:    bounded.Cache[place, placeOf]{Max: 4 << 20, Size: func(placeOf) int { return 64 }},
		tokens:    bounded.Cache[model.Hash, Token]{Max: 16 << 20, Size: Token.memory},
		mintings:  bounded.Cache[sigma.ID, minting]{Max: 8 << 20, Size: func(minting) int { return 64 }},
	}
	boxes, err := ergo.GenesisBoxes(b.Network)
	if err != nil {
		return nil, err
	}
	for i := range boxes {
		t := &Tx{Tx: &sigma.Tx{Outputs: boxes[i : i+1]}}
		t.setIDs()
		b.genesis = append(b.genesis, t)
	}
	return b, nil
}

// View is one moment of a chain. Use it from one goroutine.
type View struct {
	Q       *query.Query
	Queries query.Queries // of the same snapshot
	Tip     model.Point

	chain   *Chain
	pool    *pending.Overlay // nil: not requested, or the chain has no mempool
	blocks  map[model.HeightPk]*Block
	numbers []number // nil: not read yet
}

// View calls fn with the current moment, without the unconfirmed transactions. The view is valid until fn returns.
func (c *Chain) View(ctx context.Context, fn func(*View) error) error {
	return c.Chain.View(ctx, func(qv *query.View) error { return c.view(ctx, qv, nil, fn) })
}

// PendingView is [Chain.View] with the unconfirmed transactions, if there are any.
func (c *Chain) PendingView(ctx context.Context, fn func(*View) error) error {
	if c.Mempool == nil {
		return c.View(ctx, fn)
	}
	return c.Mempool.View(ctx, func(qv *query.View, pool *pending.Overlay) error { return c.view(ctx, qv, pool, fn) })
}

func (c *Chain) view(ctx context.Context, qv *query.View, pool *pending.Overlay, fn func(*View) error) error {
	return qv.From(ctx, func(q *query.Query) error {
		return fn(&View{Q: q, Queries: qv.Queries, Tip: q.Tip, chain: c, pool: pool, blocks: map[model.HeightPk]*Block{}})
	})
}

// Prepare counts the boxes of the chain, which the first request would wait for.
func (c *Chain) Prepare(ctx context.Context) error {
	return c.View(ctx, func(v *View) error { return v.count() })
}

// Height returns the height of the last block, 0 before the first one.
func (v *View) Height() int { return int(v.Tip.Height) }
