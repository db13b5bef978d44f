package ergoexplorer

import (
	"cmp"
	"encoding/json"
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/api/ratelimit"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

var blockEndpoints = []endpoint{
	{http.MethodGet, "blocks", blocks, false},
	{http.MethodGet, "blocks/headers", headers, false},
	{http.MethodGet, "blocks/*", block, false},
}

func headers(q *request, _ []string) error {
	p, err := q.page(maxItems)
	if err != nil {
		return err
	}
	tip := q.v.Height()
	return q.paged(tip, func() error {
		for i := p.offset; i < min(p.offset+p.limit, tip); i++ {
			h := tip - i
			if p.ascending {
				h = i + 1
			}
			b, err := q.v.Block(model.HeightPk(h))
			if err != nil {
				return err
			}
			q.Comma(i - p.offset)
			q.addHeader(b)
		}
		return nil
	})
}

// block writes the BlockSummary of a block.
func block(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	b, err := q.v.BlockOf(model.Hash(id))
	if err != nil {
		return err
	}
	if b == nil {
		return absent("block %s", args[0])
	}
	return q.addFullBlock(b)
}

var txEndpoints = []endpoint{
	{http.MethodGet, "transactions/*", tx, false},
	{http.MethodGet, "transactions/byInputsScriptTemplateHash/*", txsSpending, false},
	{http.MethodPost, "mempool/transactions/submit", submit, false},
}

func tx(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	pk, ok, err := q.v.TxOf(model.Hash(id))
	if err != nil {
		return err
	}
	if !ok {
		return absent("transaction %s", args[0])
	}
	return q.addTxs([]model.TxPk{pk}, nil)
}

// txsSpending lists the transactions that spend a box of a template.
func txsSpending(q *request, args []string) error {
	p, err := q.page(maxItems)
	if err != nil {
		return err
	}
	h, err := q.ofTemplate(args[0])
	if err != nil {
		return err
	}
	if h.Birth == nil {
		return q.paged(0, func() error { return nil })
	}
	l := q.v.HistoryList(h.Index, *h.Birth, !p.ascending, true, nil)
	total, err := q.count(l)
	if err != nil {
		return err
	}
	pks, err := q.v.Window(l, p.offset, p.limit)
	if err != nil {
		return err
	}
	txs := make([]model.TxPk, len(pks))
	for i, pk := range pks {
		txs[i] = pk.Tx()
	}
	return q.paged(total, func() error { return q.addTxs(txs, nil) })
}

// submit sends a signed transaction to the node. It is among the unconfirmed ones before the answer is sent.
func submit(q *request, _ []string) error {
	var body json.RawMessage
	if err := q.body(&body); err != nil {
		return err
	}
	if err := ratelimit.Submission(q.w); err != nil {
		return err
	}
	node := q.Chain.Node()
	if node == nil {
		return absent("a node: this server has none, its setting node is the URL of one")
	}
	a, err := node.Ask(q.Ctx, []string{"transactions"}, nil, body)
	if err != nil {
		return err
	}
	var text string
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &text) != nil {
		var refused struct{ Reason, Detail string }
		_ = json.Unmarshal(a.Body, &refused) // else the reason is empty
		return bad("the node refuses the transaction: %s", cmp.Or(refused.Detail, refused.Reason))
	}
	id, ok := boxes.ParseID(text)
	if !ok {
		return absent("the id of the transaction in the answer of the node")
	}
	q.Chain.Enter(q.Ctx, model.Hash(id))
	q.Add(`{"id":`)
	q.ID(sigma.ID(id))
	q.Add("}")
	return nil
}
