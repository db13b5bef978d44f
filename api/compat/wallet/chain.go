package wallet

import (
	"context"
	"fmt"

	"birthmark/api/bounded"
	"birthmark/api/served"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Key identifies an output script: its SHA-256, in the byte order of the hash. Electrum displays it reversed.
type Key [32]byte

// Chain answers for one served chain. It is safe for concurrent use.
type Chain struct {
	served  *served.Chain
	scripts model.Scripter
	form    form

	headers   headerHashes
	trees     bounded.Cache[model.Hash, *blockTree] // by block
	weights   bounded.Cache[model.Hash, int]        // by block
	spendable bounded.Cache[Key, bool]              // scripts without an address
	touches   bounded.Cache[model.Hash, []Key]      // by block: the scripts of its inputs and outputs
	colored   bounded.Cache[Key, counted[map[held]ColoredStats]]
	colors    bounded.Cache[model.AssetBirthPk, counted[ColorStats]]
	lastUses  bounded.Cache[model.Hash, []colorUse] // by tip: those of all colors
	pending   pendingLists
}

const (
	scriptIndex  = "script_hash"
	addressIndex = "address"

	// features are the options of the index script_hash without which single answers would read every output of a
	// script.
	features = schema.FeatureBalance | schema.FeatureHistory | schema.FeatureUnspent
)

// Needs lists the indexes and abilities of nodes that the protocols read.
var Needs = served.Needs{Chain: "bitcoin", Preset: "wallet", Node: "http://127.0.0.1:8332", Parts: []served.Need{
	{Index: scriptIndex, Options: features},
	{Raw: true},
	{Node: served.Can[model.Submitter], Without: "submitting transactions"},
	{Node: served.Can[model.FeeEstimator], Without: "estimates of fees"},
	{Mempool: true, Without: "unconfirmed transactions"},
}}

// New returns the answers of a served chain, which must fulfil [Needs].
func New(c *served.Chain) *Chain {
	return &Chain{
		served: c, scripts: c.Model.(model.Scripter), form: formOf(c.Model),
		trees:   bounded.Cache[model.Hash, *blockTree]{Max: 32 << 20, Size: func(t *blockTree) int { return t.bytes() }},
		weights: bounded.Cache[model.Hash, int]{Max: 1 << 13}, spendable: bounded.Cache[Key, bool]{Max: 1 << 13},
		touches: bounded.Cache[model.Hash, []Key]{Max: 8 << 20, Size: func(ks []Key) int { return len(ks) * len(Key{}) }},
		colored: bounded.Cache[Key, counted[map[held]ColoredStats]]{Max: 8 << 20, Size: func(c counted[map[held]ColoredStats]) int {
			return coloredSize * (1 + len(c.sum))
		}},
		colors:   bounded.Cache[model.AssetBirthPk, counted[ColorStats]]{Max: 1 << 13},
		lastUses: bounded.Cache[model.Hash, []colorUse]{Max: 8 << 20, Largest: 8 << 20, Size: func(all []colorUse) int { return useSize * len(all) }},
	}
}

// index returns the index script_hash of a database. It can be dropped, and added again, while it is served.
func (c *Chain) index(q *query.Query) (*schema.Index, error) {
	if x := q.Active(scriptIndex); x != nil && x.Active.Has(features) {
		return x, nil
	}
	return nil, model.Errorf(model.Refused, "missing_index", "%s: the wallet protocols need index %s with %v: "+
		"run birthmark index add %[2]s --index %[4]s", c.served.Name, scriptIndex, features, Needs.Preset)
}

// Coin returns the name of the chain: bitcoin.
func (c *Chain) Coin() string { return c.served.Model.Name() }

// Network returns the name of the network: mainnet.
func (c *Chain) Network() string { return c.served.Model.Network() }

// ScriptOfAddress returns the output script that an address pays to. Errors have the kind [model.Usage]: bad_address
// (malformed), bad_network (of another network).
func (c *Chain) ScriptOfAddress(address string) ([]byte, error) {
	return c.scripts.AddressScript(address)
}

// Address returns the address of a script, empty if it has none.
func (c *Chain) Address(script []byte) string { return c.scripts.ScriptAddress(script) }

// Subsidy returns the amount that the block at a height may create; 0 if the coin has no schedule.
func (c *Chain) Subsidy(height uint32) uint64 {
	until, _, ok := c.served.Model.Supply(model.HeightPk(height))
	if !ok {
		return 0
	}
	before := uint64(0)
	if height > 0 {
		before, _, _ = c.served.Model.Supply(model.HeightPk(height - 1))
	}
	return until - before
}

// View calls fn with the current moment. The view is valid until fn returns.
func (c *Chain) View(ctx context.Context, fn func(*View) error) error {
	return c.served.Newest(ctx, func(qv *query.View, pool *pending.Overlay) error { return c.view(ctx, qv, pool, fn) })
}

func (c *Chain) view(ctx context.Context, qv *query.View, pool *pending.Overlay, fn func(*View) error) error {
	return qv.From(ctx, func(q *query.Query) error {
		x, err := c.index(q)
		if err != nil {
			return err
		}
		v := &View{Tip: q.Tip, chain: c, queries: qv.Queries, q: q, index: x, pool: pool}
		if pool != nil {
			v.poolIndex, v.poolAddress = pool.Index(scriptIndex), pool.Index(addressIndex)
		}
		return fn(v)
	})
}

// View is one moment of a chain. Use it from one goroutine.
type View struct {
	Tip model.Point

	chain   *Chain
	queries query.Queries // of the same snapshot as q
	q       *query.Query
	index   *schema.Index // script_hash

	pool                   *pending.Overlay // nil: none
	poolIndex, poolAddress int              // of script_hash and address in the values of pool; -1: none
}

// height returns the pointer of a block, or a NotFound error (unknown_block) above the tip.
func (v *View) height(h uint32) (model.HeightPk, error) {
	if v.Tip.IsOrigin() || h > uint32(v.Tip.Height) {
		return 0, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the tip is %d", h, v.Tip.Height)
	}
	return model.HeightPk(h), nil
}

func unknownTx(id model.Hash) error {
	return model.Errorf(model.NotFound, "unknown_tx", "no transaction %s", displayed(id))
}

// displayed returns a hash as it is displayed: reversed, in hex.
func displayed(h model.Hash) string {
	for i, j := 0, len(h)-1; i < j; i, j = i+1, j-1 {
		h[i], h[j] = h[j], h[i]
	}
	return fmt.Sprintf("%x", h[:])
}
