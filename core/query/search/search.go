package search

import (
	"context"
	"strings"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

const (
	// MaxText is the maximum number of bytes of a text. Longer texts have no results.
	MaxText = 70_000

	minPrefix   = 3      // bytes of a prefix of a value or of the name of an asset
	maxPrefixed = 10     // results per index for a prefix
	maxNamed    = 10     // assets for a name
	maxCompared = 20_000 // assets whose name is compared, the newest ones
)

// Results are the items that a text names, most likely first.
type Results struct {
	Query   string   `json:"query"`
	Results []Result `json:"results"`
	Partial bool     `json:"partial,omitempty"` // there can be more values with the prefix, or assets with the name
}

// Types of a [Result].
const (
	Block  = "block"
	Tx     = "tx"
	Output = "output"
	Value  = "value" // of an index
	Asset  = "asset"
)

// Result is an object that matches the text.
type Result struct {
	Type   string `json:"type"`
	Index  string `json:"index,omitempty"` // of a value
	Value  string `json:"value"`           // a hash, TXHASH:N, a value of the index, or the id of an asset
	Name   string `json:"name,omitempty"`  // of an asset, not verified
	Amount string `json:"amount,omitempty"`
	// Height of the block, or of the first occurrence; absent for an unconfirmed transaction, and for an address that was
	// never used.
	Height *uint32 `json:"height,omitempty"`
}

// finder is one search.
type finder struct {
	query.Queries
	ctx    context.Context
	chain  model.Chain
	pool   func(model.Hash) bool
	answer *Results
}

// Of returns what text names in a database of chain. Only without such a result it looks for addresses that were never
// used and for transactions by a part of their hash, then for names of assets and for values with the prefix, of
// indexes with the option prefix. Text can be a URI (BIP 21), and invisible characters in it are ignored. pool reports
// whether a transaction is unconfirmed; nil: none is.
func Of(ctx context.Context, qs query.Queries, chain model.Chain, text string, pool func(model.Hash) bool) (*Results, error) {
	f := &finder{qs, ctx, chain, pool, &Results{Query: Clean(text), Results: []Result{}}}
	if len(text) > MaxText {
		return f.answer, nil
	}
	w, err := model.WalletOf(chain, schema.HoldersIndex, f.answer.Query)
	if _, code := model.KindOf(err); w != nil {
		f.answer.Results = append(f.answer.Results, Result{Type: Value, Index: schema.HoldersIndex, Value: f.answer.Query})
		return f.answer, nil
	} else if err != nil && code == "private_key" {
		return nil, err
	}
	texts := readings(chain, text)
	for i, step := range [][]func(string) error{
		{f.block, f.tx, f.output, f.values, f.asset}, {f.hashes, f.unused}, {f.named, f.prefixed},
	} {
		if i == 2 {
			texts = texts[:min(len(texts), 1)] // a comparison with all names is expensive
		}
		for _, text := range texts {
			for _, look := range step {
				if err := look(text); err != nil && !missing(err) {
					return nil, err
				}
			}
			if len(f.answer.Results) > 0 {
				return f.answer, nil
			}
		}
		if len(f.answer.Query) < minPrefix {
			break
		}
	}
	return f.answer, nil
}

// missing reports whether an error means that something is not found, or not yet available.
func missing(err error) bool {
	kind, code := model.KindOf(err)
	return kind == model.NotFound || kind == model.Usage && code != "too_many_rows" || code == "index_building"
}

func (f *finder) add(r Result, height uint32) {
	r.Height = &height
	f.answer.Results = append(f.answer.Results, r)
}

// block finds a block by height, with or without commas, by hash, or by a word for the tip.
func (f *finder) block(text string) error {
	ref := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(text, "#"), ",", ""))
	switch ref {
	case "latest", "newest", "head", "best":
		ref = "tip"
	}
	b, err := f.Block(f.ctx, ref)
	if err == nil {
		f.add(Result{Type: Block, Value: b.Hash}, b.Height)
	}
	return err
}

func (f *finder) tx(text string) error {
	txs, err := f.Txs(f.ctx, []string{strings.ToLower(text)})
	if err != nil {
		return err
	}
	if txs[0] != nil {
		f.add(Result{Type: Tx, Value: txs[0].Hash}, txs[0].Height)
		return nil
	}
	id, err := f.chain.ParseHash(strings.ToLower(text))
	if err == nil && f.pool != nil && f.pool(id) {
		f.answer.Results = append(f.answer.Results, Result{Type: Tx, Value: f.chain.FormatHash(id)})
	}
	return err
}

// output finds an output by TX:N or TX#N.
func (f *finder) output(text string) error {
	ref := strings.ToLower(strings.Replace(text, "#", ":", 1))
	if !strings.Contains(ref, ":") {
		return nil
	}
	return f.addOutput(ref)
}

func (f *finder) addOutput(ref string) error {
	o, err := f.Output(f.ctx, ref)
	if err == nil {
		f.add(Result{Type: Output, Value: query.OutputRef(o.Tx, o.Index), Amount: o.Value}, o.Height)
	}
	return err
}

// indexes returns the names of the indexes of the database.
func (f *finder) indexes() (names []string, err error) {
	states, err := f.IndexStates(f.ctx)
	for _, s := range states {
		if !s.Dropping {
			names = append(names, s.Name)
		}
	}
	return names, err
}

// values looks up the text in every index. The value of the index that inputs contain is an output.
func (f *finder) values(text string) error {
	indexes, err := f.indexes()
	if err != nil {
		return err
	}
	for _, index := range indexes {
		found, err := f.Find(f.ctx, index, text, query.Terms{}, query.Page{Limit: 1})
		if err != nil && !missing(err) {
			return err
		}
		if err != nil || found.FirstSeen == nil || found.Index != index {
			continue
		}
		if seen := found.FirstSeen; index == f.chain.Traits().SpendIndex {
			err = f.addOutput(query.OutputRef(seen.Tx, seen.Index))
		} else {
			f.add(Result{Type: Value, Index: index, Value: found.Value}, seen.Height)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unused finds an address that was never used. Other indexes are ignored, since any hash is a valid value of some
// index.
func (f *finder) unused(text string) error {
	found, err := f.Find(f.ctx, schema.HoldersIndex, text, query.Terms{}, query.Page{Limit: 1})
	if err == nil {
		f.answer.Results = append(f.answer.Results, Result{Type: Value, Index: found.Index, Value: found.Value})
	}
	return err
}

func (f *finder) asset(text string) error {
	a, err := f.Asset(f.ctx, text)
	if err == nil {
		f.add(Result{Type: Asset, Value: a.Asset, Name: query.AssetName(f.chain, a)}, a.FirstSeen.Height)
	}
	return err
}

// named finds assets by name or by the beginning of a name, in any case: first those with exactly this name, then the
// others, each newest first.
func (f *finder) named(text string) error {
	if err := f.From(f.ctx, func(q *query.Query) error {
		return q.Pass(int(min(q.Totals.Rows[schema.FamilyAssetID], maxCompared)))
	}); err != nil {
		return err
	}
	var exact, longer []query.AssetAnswer
	page := query.Page{Limit: 1000, Descending: true}
	for compared := 0; ; compared += page.Limit {
		list, err := f.Assets(f.ctx, page)
		if err != nil {
			return err
		}
		for _, a := range list.Assets {
			switch name := query.AssetName(f.chain, &a); {
			case len(name) < len(text) || !strings.EqualFold(name[:len(text)], text):
			case len(name) == len(text):
				exact = append(exact, a)
			case len(longer) <= maxNamed:
				longer = append(longer, a)
			}
		}
		f.answer.Partial = len(exact)+len(longer) > maxNamed || list.Next != nil
		if list.Next == nil || compared+page.Limit >= maxCompared || len(exact) > maxNamed {
			break
		}
		page.After = *list.Next
	}
	found := append(exact, longer...)
	for _, a := range found[:min(len(found), maxNamed)] {
		f.add(Result{Type: Asset, Value: a.Asset, Name: query.AssetName(f.chain, &a)}, a.FirstSeen.Height)
	}
	return nil
}

// prefixed finds values with the prefix.
func (f *finder) prefixed(text string) error {
	indexes, err := f.indexes()
	if err != nil {
		return err
	}
	for _, index := range indexes {
		found, err := f.ValuesByText(f.ctx, index, text, query.Page{Limit: maxPrefixed})
		if err != nil && !missing(err) {
			return err
		}
		if err != nil {
			continue
		}
		f.answer.Partial = f.answer.Partial || found.Next != nil
		for _, v := range found.Values {
			f.add(Result{Type: Value, Index: index, Value: v.Value}, v.FirstSeen.Height)
		}
	}
	return nil
}
