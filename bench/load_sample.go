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

// places are what a server is asked for: drawn from what it answers itself, so that any server can be asked.
type places struct {
	index                        string // that values are of; empty: the database has none with values that occur twice
	txs, blocks, outputs, values []string
}

// loadPaths are what can be asked of a server, by name, each as the path of the i-th place. A path that begins with two
// slashes is one of the pages people look at, below the chain's.
var loadPaths = map[string]struct {
	path func(p *places, i int) string
	of   func(p *places) []string
}{
	"tx":      {func(p *places, i int) string { return "/tx/" + p.txs[i] }, placeTxs},
	"output":  {func(p *places, i int) string { return "/output/" + p.outputs[i] }, placeOutputs},
	"block":   {func(p *places, i int) string { return "/block/" + p.blocks[i] }, placeBlocks},
	"find":    {func(p *places, i int) string { return "/find/" + p.value(i) }, placeValues},
	"history": {func(p *places, i int) string { return "/history/" + p.value(i) }, placeValues},
	"balance": {func(p *places, i int) string { return "/balance/" + p.value(i) }, placeValues},

	"page_home":  {func(*places, int) string { return "//" }, placeTxs},
	"page_tx":    {func(p *places, i int) string { return "//tx/" + p.txs[i] }, placeTxs},
	"page_block": {func(p *places, i int) string { return "//block/" + p.blocks[i] }, placeBlocks},
	"page_value": {func(p *places, i int) string { return p.page(i) }, placeValues},
}

func placeTxs(p *places) []string     { return p.txs }
func placeOutputs(p *places) []string { return p.outputs }
func placeBlocks(p *places) []string  { return p.blocks }
func placeValues(p *places) []string  { return p.values }

// page is the page of a value. That of an address has a path of its own.
func (p *places) page(i int) string {
	if p.index == "address" {
		return "//" + p.value(i)
	}
	return "//index/" + p.value(i)
}

func (p *places) value(i int) string {
	return url.PathEscape(p.index) + "/" + url.PathEscape(p.values[i])
}

// LoadKinds are the names of what a server can be asked.
func LoadKinds() []string { return slices.Sorted(maps.Keys(loadPaths)) }

// requests are those of a kind, as they are sent.
func (p *places) requests(kind string, at *url.URL) (all [][]byte, err error) {
	k := loadPaths[kind]
	n := len(k.of(p))
	if n == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_value", "nothing was drawn that %s can be asked for", kind)
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

// drawer asks a server for what it has.
type drawer struct {
	*client
	at *url.URL
}

// answer asks for what is at a path below the chain's, and decodes it.
func (d *drawer) answer(path string, to any) (found bool, err error) {
	path = d.at.EscapedPath() + path
	a, err := d.ask(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, d.at.Host), true)
	if err != nil {
		return false, model.Errorf(model.BadSource, "no_answer", "%s: %w", d.at, err)
	}
	if a.status == 404 && path != d.at.EscapedPath()+"/status" {
		return false, nil
	}
	if a.status != 200 {
		return false, model.Errorf(model.BadSource, "no_answer", "GET %s of %s is answered with %d, expected 200: %.200s", path, d.at.Host, a.status, a.body)
	}
	if err := json.Unmarshal(a.body, to); err != nil {
		return false, model.Errorf(model.BadSource, "no_answer", "GET %s of %s: %w", path, d.at.Host, err)
	}
	return true, nil
}

// ordinaryOutputs is as many as an ordinary value has at most. Of a hundred outputs of generated blocks five belong to
// others, services with up to millions; what these cost is measured by [Query].
const ordinaryOutputs = 100

// ordinaryParts is as many inputs and outputs as an ordinary transaction has at most. Of a hundred thousand of mainnet's about
// one has more; what a generated chain begins with are 20,000 outputs in one, and drawn once in a thousand times that alone
// would be four fifths of all that is answered.
const ordinaryParts = 1000

// draw takes a sample as [Query] does: blocks evenly by height, of each a transaction, of that an output, of that a value;
// of transactions and values only ordinary ones.
func (d *drawer) draw(ctx context.Context, n int, seed uint64) (*places, error) {
	var status query.StatusAnswer
	if _, err := d.answer("/status", &status); err != nil {
		return nil, err
	}
	if status.Tip == nil || status.Totals.Txs == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_tx", "%s has no transactions to ask for", d.at)
	}
	p, rng := &places{}, distribution.NewRandom(seed, 0)
	for _, x := range status.Indexes {
		if x.Kind != model.OneToOne.String() && p.index == "" {
			p.index = x.Name
		}
	}
	for tries := 0; len(p.txs) < n; tries++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if tries == 100*n {
			return nil, model.Errorf(model.NotFound, "unknown_tx", "%d blocks were looked at, %d of them had transactions with outputs", tries, len(p.txs))
		}
		var block query.BlockAnswer
		var tx query.TxAnswer
		height := fmt.Sprint(rng.IntN(int(status.Tip.Height) + 1))
		if found, err := d.answer("/block/"+height, &block); err != nil {
			return nil, err
		} else if !found || len(block.Txs) == 0 {
			continue
		}
		if found, err := d.answer("/tx/"+block.Txs[rng.IntN(len(block.Txs))], &tx); err != nil {
			return nil, err
		} else if !found || len(tx.Outputs) == 0 || len(tx.Inputs)+len(tx.Outputs) > ordinaryParts {
			continue
		}
		drawn := &tx.Outputs[rng.IntN(len(tx.Outputs))]
		p.txs, p.blocks = append(p.txs, tx.Hash), append(p.blocks, height)
		p.outputs = append(p.outputs, fmt.Sprintf("%s:%d", drawn.Tx, drawn.Index))
		for _, v := range answeredValues(drawn, p.index) {
			var outputs query.FindAnswer
			path := fmt.Sprintf("/find/%s/%s?limit=%d", url.PathEscape(p.index), url.PathEscape(v), ordinaryOutputs)
			if found, err := d.answer(path, &outputs); err != nil {
				return nil, err
			} else if found && outputs.Next == nil {
				p.values = append(p.values, v)
			}
		}
	}
	return p, nil
}

// answeredValues are the values of an index that an output has in an answer that was decoded.
func answeredValues(o *query.OutputAnswer, index string) (values []string) {
	switch v := o.Keys[index].(type) {
	case string:
		return []string{v}
	case []any:
		for _, each := range v {
			if text, ok := each.(string); ok {
				values = append(values, text)
			}
		}
	}
	return values
}
