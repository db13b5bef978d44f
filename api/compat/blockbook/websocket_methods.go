package blockbook

import (
	"context"
	"encoding/json"
	"strconv"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// method answers a request of a connection. Nil data without an error is no answer: the method has sent one.
type method func(c *conn, ctx context.Context, m *message) (data any, err error)

var methods map[string]method

func init() { // not a composite literal, which would refer to itself
	methods = map[string]method{
		"getInfo": func(c *conn, ctx context.Context, m *message) (any, error) {
			node, err := c.node(ctx)
			if err != nil { // the answer has all that it needs
				c.failed(err, m.Method)
			}
			answer := func(c *conn, q *question, _ *struct{}) (any, error) { return c.chainInfo(q.View, node) }
			return asks(answer)(c, ctx, m)
		},
		"ping": func(*conn, context.Context, *message) (any, error) { return struct{}{}, nil },
		"getBlockHash": asks(func(c *conn, q *question, p *struct {
			Height int64 `json:"height"`
		}) (any, error) {
			b, err := findBlock(q.View, strconv.FormatInt(p.Height, 10))
			if err != nil {
				return nil, err
			}
			return struct {
				Hash string `json:"hash"`
			}{block.FormatHash(b.Hash)}, nil
		}),
		"getBlock": asks(func(c *conn, q *question, p *struct {
			ID       string `json:"id"`
			Page     int    `json:"page"`
			PageSize int    `json:"pageSize"`
		}) (any, error) {
			page := min(max(p.Page-1, 0), maxPage)
			return c.block(q, p.ID, page, pageSize(p.PageSize, pageSizeREST, maxBlockPage), form{light: true, spenders: true})
		}),
		"getAccountInfo": asks((*conn).getAccountInfo),
		"getAccountUtxo": asks(func(c *conn, q *question, p *struct {
			Descriptor string `json:"descriptor"`
			Gap        int    `json:"gap"`
		}) (any, error) {
			return c.utxos(q, p.Descriptor, p.Gap, false)
		}),
		"getBalanceHistory": asks(func(c *conn, q *question, p *struct {
			Descriptor string `json:"descriptor"`
			From       int64  `json:"from"`
			To         int64  `json:"to"`
			GroupBy    int64  `json:"groupBy"`
			Gap        int    `json:"gap"`
		}) (any, error) {
			if p.GroupBy <= 0 {
				p.GroupBy = defaultGroup
			}
			return c.balanceHistory(q, p.Descriptor, p.Gap, p.From, p.To, p.GroupBy)
		}),
		"getTransaction":         asks(func(c *conn, q *question, p *byTxID) (any, error) { return c.oneTx(q, p.TxID, false) }),
		"getTransactionSpecific": asks(func(c *conn, q *question, p *byTxID) (any, error) { return c.specific(q, p.TxID) }),
		"estimateFee":            estimateFee,
		"sendTransaction": func(c *conn, ctx context.Context, m *message) (any, error) {
			var p struct {
				Hex string `json:"hex"`
			}
			if err := m.parameters(&p); err != nil {
				return nil, err
			}
			if err := c.submission(); err != nil {
				return nil, err
			}
			return c.submit(ctx, p.Hex)
		},
		"subscribeNewBlock":    subscribeBlocks,
		"unsubscribeNewBlock":  unsubscribeBlocks,
		"subscribeAddresses":   subscribeAddresses,
		"unsubscribeAddresses": unsubscribeAddresses,
	}
	for _, name := range []string{
		"subscribeFiatRates", "unsubscribeFiatRates", "getCurrentFiatRates", "getFiatRatesForTimestamps",
		"getFiatRatesTickersList", "getContractInfo", "rpcCall", "getBlockFilter", "getBlockFiltersBatch", "getMempoolFilters",
		"longTermFeeRate",
	} {
		methods[name] = func(*conn, context.Context, *message) (any, error) { return nil, errNotServed }
	}
	for _, name := range []string{"subscribeNewTransaction", "unsubscribeNewTransaction"} {
		methods[name] = func(*conn, context.Context, *message) (any, error) {
			return struct {
				subscribed
				Message string `json:"message"`
			}{Message: name + " not enabled, use -enablesubnewtx flag to enable."}, nil // in Blockbook's words
		}
	}
}

// call calls the method of a request.
func (c *conn) call(ctx context.Context, m *message) (any, error) {
	f, ok := methods[m.Method]
	if !ok {
		return nil, model.Errorf(model.Usage, "unknown_method", "unknown method %.40q", m.Method)
	}
	return f(c, ctx, m)
}

// parameters reads the parameters of a request; missing ones are empty.
func (m *message) parameters(to any) error {
	if len(m.Params) == 0 {
		return nil
	}
	if err := json.Unmarshal(m.Params, to); err != nil {
		return model.Errorf(model.Usage, "bad_params", "%.40s: invalid params: %w", m.Method, err)
	}
	return nil
}

// asks returns a method that reads the chain.
func asks[P any](answer func(*conn, *question, *P) (any, error)) method {
	return func(c *conn, ctx context.Context, m *message) (data any, err error) {
		p := new(P)
		if err := m.parameters(p); err != nil {
			return nil, err
		}
		err = c.view(ctx, func(q *question) (err error) {
			data, err = answer(c, q, p)
			return err
		})
		return data, err
	}
}

type byTxID struct {
	TxID string `json:"txid"`
}

func (c *conn) getAccountInfo(q *question, p *struct {
	Descriptor string `json:"descriptor"`
	Details    string `json:"details"`
	Tokens     string `json:"tokens"`
	Page       int    `json:"page"`
	PageSize   int    `json:"pageSize"`
	From       int64  `json:"from"`
	To         int64  `json:"to"`
	Gap        int    `json:"gap"`
},
) (any, error) {
	r := &accountRequest{
		descriptor: p.Descriptor, details: detailsNames[p.Details], tokens: tokensDerived,
		page: min(max(p.Page-1, 0), maxPage), pageSize: pageSize(p.PageSize, pageSizeWebSocket, pageSizeREST), gap: p.Gap,
		from: uint32(min(max(p.From, 0), model.MaxHeight)), to: uint32(min(max(p.To, 0), model.MaxHeight)),
	}
	if f, ok := tokenFilters[p.Tokens]; ok {
		r.tokens = f
	}
	return c.accountInfo(q, r)
}

// maxTargets is how many fee estimates a request can have.
const maxTargets = 32

func estimateFee(c *conn, ctx context.Context, m *message) (any, error) {
	var p struct {
		Blocks   []int `json:"blocks"`
		Specific struct {
			Conservative *bool   `json:"conservative"`
			TxSize       float64 `json:"txsize"` // virtual bytes
		} `json:"specific"`
	}
	if err := m.parameters(&p); err != nil {
		return nil, err
	}
	if len(p.Blocks) > maxTargets {
		return nil, model.Errorf(model.Usage, "too_many", "blocks max %d", maxTargets)
	}
	answers := make([]feeAnswer, len(p.Blocks))
	for i, blocks := range p.Blocks {
		rate, err := c.estimate(ctx, blocks, p.Specific.Conservative == nil || *p.Specific.Conservative)
		if err != nil {
			return nil, err
		}
		answers[i].FeePerUnit = strconv.FormatUint(rate, 10)
		if size := p.Specific.TxSize; size >= 1 && size < 1e9 {
			answers[i].FeePerTx = strconv.FormatUint((rate*uint64(size)+500)/1000, 10)
		}
	}
	return answers, nil
}
