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
	"birthmark/bench/loadclient"
	"birthmark/core/query"
	"birthmark/model"
)

// sample is items of a database: transactions, the block and an output of each, and values of outputs.
type sample struct {
	index                        string // of the values; empty: the database has no suitable one
	txs, blocks, outputs, values []string

	long, hot []string // of the Electrum protocol: see [ElectrumKinds]
	hottest   int      // transactions of hot
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
// an explorer page of the chain, one that begins with three is of the Esplora API,
// one that begins with a brace is a request of the Electrum protocol.
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

	"esplora_address":       {func(p *sample, i int) string { return p.esplora(i, "") }, placeValues},
	"esplora_address_txs":   {func(p *sample, i int) string { return p.esplora(i, "/txs") }, placeValues},
	"esplora_address_utxo":  {func(p *sample, i int) string { return p.esplora(i, "/utxo") }, placeValues},
	"esplora_tx":            {func(p *sample, i int) string { return "///tx/" + p.txs[i] }, placeTxs},
	"esplora_tx_hex":        {func(p *sample, i int) string { return "///tx/" + p.txs[i] + "/hex" }, placeTxs},
	"esplora_tx_status":     {func(p *sample, i int) string { return "///tx/" + p.txs[i] + "/status" }, placeTxs},
	"esplora_tx_outspends":  {func(p *sample, i int) string { return "///tx/" + p.txs[i] + "/outspends" }, placeTxs},
	"esplora_tx_proof":      {func(p *sample, i int) string { return "///tx/" + p.txs[i] + "/merkle-proof" }, placeTxs},
	"electrum_balance":      {aboutScript("get_balance", placeValues), placeValues},
	"electrum_balance_hot":  {aboutScript("get_balance", placeHot), placeHot},
	"electrum_history":      {aboutScript("get_history", placeValues), placeValues},
	"electrum_history_long": {aboutScript("get_history", placeLong), placeLong},
	"electrum_history_hot":  {aboutScript("get_history", placeHot), placeHot},
	"electrum_unspent":      {aboutScript("listunspent", placeValues), placeValues},
	"electrum_status":       {aboutScript("get_status", placeValues), placeValues},
	"electrum_merkle": {func(p *sample, i int) string {
		return fmt.Sprintf(`{"id":0,"method":"blockchain.transaction.get_merkle","params":[%q,%s]}`, p.txs[i], p.blocks[i])
	}, placeTxs},
	"electrum_tx": {func(p *sample, i int) string {
		return fmt.Sprintf(`{"id":0,"method":"blockchain.transaction.get","params":[%q]}`, p.txs[i])
	}, placeTxs},

	"esplora_block": {func(p *sample, i int) string { return "///blocks/" + p.blocks[i] }, placeBlocks},
}

// EsploraMix is the default mix of requests to the Esplora API.
var EsploraMix = map[string]int{"esplora_address": 50, "esplora_tx": 50}

const esploraPrefix = "esplora_"

// EsploraKinds returns the kinds of requests to the Esplora API.
func EsploraKinds() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(loadPaths)), func(kind string) bool { return !strings.HasPrefix(kind, esploraPrefix) })
}

// esplora returns the path of an address in the Esplora API.
func (p *sample) esplora(i int, list string) string {
	return "///address/" + url.PathEscape(p.values[i]) + list
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

// LoadKinds returns the kinds of requests to the API and the explorer.
func LoadKinds() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(loadPaths)), func(kind string) bool {
		return strings.HasPrefix(kind, esploraPrefix) || strings.HasPrefix(kind, electrumPrefix)
	})
}

// requests returns the encoded requests of a kind. esplora is the path of the Esplora API.
func (p *sample) requests(kind string, at *url.URL, esplora string) (all [][]byte, err error) {
	k := loadPaths[kind]
	n := len(k.of(p))
	if n == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_value", "the sample has no items for %s", kind)
	}
	for i := range n {
		path := at.EscapedPath() + k.path(p, i)
		if below, is := strings.CutPrefix(k.path(p, i), "///"); is {
			path = esplora + "/" + below
		} else if below, page := strings.CutPrefix(k.path(p, i), "//"); page {
			path = strings.TrimSuffix("/"+strings.TrimPrefix(strings.TrimPrefix(at.EscapedPath(), "/v1"), "/")+"/"+below, "/")
		}
		if strings.HasPrefix(k.path(p, i), "{") {
			all = append(all, []byte(k.path(p, i)+"\n"))
			continue
		}
		all = append(all, fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, at.Host))
	}
	return all, nil
}

// drawer takes samples from a server.
type drawer struct {
	*loadclient.Client
	at       *url.URL
	electrum bool // for requests of the Electrum protocol
}

// answer requests a path of the chain and decodes the response.
func answer[T any](d *drawer, path string) (*T, error) {
	path = d.at.EscapedPath() + path
	a, err := d.Ask(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, d.at.Host), true)
	if err != nil {
		return nil, model.Errorf(model.BadSource, "no_answer", "%s: %w", d.at, err)
	}
	if a.Status != 200 {
		kind := model.BadSource
		if a.Status == 404 && path != d.at.EscapedPath()+"/status" {
			kind = model.NotFound
		}
		return nil, model.Errorf(kind, "no_answer", "GET %s of %s: status %d, expected 200: %.200s", path, d.at.Host, a.Status, a.Body)
	}
	to := new(T)
	if err := json.Unmarshal(a.Body, to); err != nil {
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
		if x.Kind != model.OneToOne.String() && (p.index == "" || d.electrum && x.Name == scriptIndex) {
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
			} else if err == nil && d.electrum {
				if err := d.addFrequent(p, v); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
