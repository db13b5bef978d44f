package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"birthmark/bench/generate/distribution"
	"birthmark/core/query"
	"birthmark/model"
)

// sample is items of a database: transactions, the block and an output of each, and values of outputs.
type sample struct {
	index                        string // of the values; empty: the database has no suitable one
	txs, blocks, outputs, values []string
}

// sampled is a source of samples: a database or a server. Its errors are of kind [model.NotFound] for unknown items.
type sampled interface {
	Block(ctx context.Context, ref string) (*query.BlockAnswer, error)
	Tx(ctx context.Context, hash string) (*query.TxAnswer, error)
}

// draw samples n transactions of at most parts inputs and outputs: blocks with uniformly distributed heights, a
// transaction of each and one of its outputs, which it passes to use.
func (p *sample) draw(
	ctx context.Context, from sampled, rng distribution.Random, tip, n, parts int,
	use func(tx *query.TxAnswer, drawn *query.OutputAnswer) error,
) error {
	for tries := 0; len(p.txs) < n; tries++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if tries == 100*n {
			return model.Errorf(model.NotFound, "unknown_tx", "of %d sampled blocks only %d have suitable transactions", tries, len(p.txs))
		}
		height := fmt.Sprint(rng.IntN(tip + 1))
		block, err := from.Block(ctx, height)
		var tx *query.TxAnswer
		if err == nil && len(block.Txs) > 0 {
			tx, err = from.Tx(ctx, block.Txs[rng.IntN(len(block.Txs))])
		}
		if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
			return err
		}
		if tx == nil || len(tx.Outputs) == 0 || len(tx.Inputs)+len(tx.Outputs) > parts {
			continue
		}
		drawn := &tx.Outputs[rng.IntN(len(tx.Outputs))]
		p.txs, p.blocks = append(p.txs, tx.Hash), append(p.blocks, height)
		p.outputs = append(p.outputs, fmt.Sprintf("%s:%d", drawn.Tx, drawn.Index))
		if err := use(tx, drawn); err != nil {
			return err
		}
	}
	return nil
}

// valuesOf returns the values of an index in an output, which may have been decoded from JSON.
func valuesOf(o *query.OutputAnswer, index string) (values []string) {
	switch v := o.Keys[index].(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		for _, each := range v {
			if text, ok := each.(string); ok {
				values = append(values, text)
			}
		}
	}
	return values
}

// loadPaths maps kinds of requests to functions for the path of the i-th item. A path that begins with two slashes is
// an explorer page of the chain.
var loadPaths = map[string]struct {
	path func(p *sample, i int) string
	of   func(p *sample) []string
}{
	"tx":      {func(p *sample, i int) string { return "/tx/" + p.txs[i] }, placeTxs},
	"output":  {func(p *sample, i int) string { return "/output/" + p.outputs[i] }, placeOutputs},
	"block":   {func(p *sample, i int) string { return "/block/" + p.blocks[i] }, placeBlocks},
	"find":    {func(p *sample, i int) string { return "/find/" + p.value(i) }, placeValues},
	"history": {func(p *sample, i int) string { return "/history/" + p.value(i) }, placeValues},
	"balance": {func(p *sample, i int) string { return "/balance/" + p.value(i) }, placeValues},

	"page_home":  {func(*sample, int) string { return "//" }, placeTxs},
	"page_tx":    {func(p *sample, i int) string { return "//tx/" + p.txs[i] }, placeTxs},
	"page_block": {func(p *sample, i int) string { return "//block/" + p.blocks[i] }, placeBlocks},
	"page_value": {func(p *sample, i int) string { return p.page(i) }, placeValues},
}

func placeTxs(p *sample) []string     { return p.txs }
func placeOutputs(p *sample) []string { return p.outputs }
func placeBlocks(p *sample) []string  { return p.blocks }
func placeValues(p *sample) []string  { return p.values }

// page returns the path of a value's page. Addresses have a shorter path.
func (p *sample) page(i int) string {
	if p.index == "address" {
		return "//" + p.value(i)
	}
	return "//index/" + p.value(i)
}

func (p *sample) value(i int) string {
	return url.PathEscape(p.index) + "/" + url.PathEscape(p.values[i])
}

// LoadKinds returns the kinds of requests.
func LoadKinds() []string { return slices.Sorted(maps.Keys(loadPaths)) }

// requests returns the encoded requests of a kind.
func (p *sample) requests(kind string, at *url.URL) (all [][]byte, err error) {
	k := loadPaths[kind]
	n := len(k.of(p))
	if n == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_value", "the sample has no items for %s", kind)
	}
	for i := range n {
		path := at.EscapedPath() + k.path(p, i)
		if below, page := strings.CutPrefix(k.path(p, i), "//"); page {
			path = strings.TrimSuffix("/"+strings.TrimPrefix(strings.TrimPrefix(at.EscapedPath(), "/v1"), "/")+"/"+below, "/")
		}
		all = append(all, fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, at.Host))
	}
	return all, nil
}

// drawer takes samples from a server.
type drawer struct {
	*client
	at *url.URL
}

// answer requests a path of the chain and decodes the response.
func answer[T any](d *drawer, path string) (*T, error) {
	path = d.at.EscapedPath() + path
	a, err := d.ask(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, d.at.Host), true)
	if err != nil {
		return nil, model.Errorf(model.BadSource, "no_answer", "%s: %w", d.at, err)
	}
	if a.status != 200 {
		kind := model.BadSource
		if a.status == 404 && path != d.at.EscapedPath()+"/status" {
			kind = model.NotFound
		}
		return nil, model.Errorf(kind, "no_answer", "GET %s of %s: status %d, expected 200: %.200s", path, d.at.Host, a.status, a.body)
	}
	to := new(T)
	if err := json.Unmarshal(a.body, to); err != nil {
		return nil, model.Errorf(model.BadSource, "no_answer", "GET %s of %s: %w", path, d.at.Host, err)
	}
	return to, nil
}

func (d *drawer) Block(_ context.Context, ref string) (*query.BlockAnswer, error) {
	return answer[query.BlockAnswer](d, "/block/"+ref)
}

func (d *drawer) Tx(_ context.Context, hash string) (*query.TxAnswer, error) {
	return answer[query.TxAnswer](d, "/tx/"+hash)
}

// ordinaryOutputs is the maximum number of outputs of a sampled value. In generated blocks 5% of outputs belong to
// values with more, up to millions, which [Query] measures.
const ordinaryOutputs = 100

// ordinaryParts is the maximum number of inputs and outputs of a sampled transaction. About one in 100,000 on mainnet
// has more. The first transaction of a generated chain has 20,000 outputs: in a sample of 1,000 it would be 80% of all
// bytes.
const ordinaryParts = 1000

// draw takes a sample, without large transactions and frequent values.
func (d *drawer) draw(ctx context.Context, n int, seed uint64) (*sample, error) {
	status, err := answer[query.StatusAnswer](d, "/status")
	if err != nil {
		return nil, err
	}
	if status.Tip == nil || status.Totals.Txs == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_tx", "%s has no transactions", d.at)
	}
	p, rng := &sample{}, distribution.NewRandom(seed, 0)
	for _, x := range status.Indexes {
		if x.Kind != model.OneToOne.String() && p.index == "" {
			p.index = x.Name
		}
	}
	return p, p.draw(ctx, d, rng, int(status.Tip.Height), n, ordinaryParts, func(_ *query.TxAnswer, drawn *query.OutputAnswer) error {
		for _, v := range valuesOf(drawn, p.index) {
			path := fmt.Sprintf("/find/%s/%s?limit=%d", url.PathEscape(p.index), url.PathEscape(v), ordinaryOutputs)
			outputs, err := answer[query.FindAnswer](d, path)
			if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
				return err
			}
			if err == nil && outputs.Next == nil {
				p.values = append(p.values, v)
			}
		}
		return nil
	})
}
