package ergonode

import (
	"bytes"
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/model"
)

var blockEndpoints = []endpoint{
	{http.MethodGet, "blocks", blockIDs, confirmed},
	{http.MethodGet, "blocks/at/*", blocksAt, confirmed},
	{http.MethodGet, "blocks/*/header", header, confirmed},
	{http.MethodGet, "blocks/*/transactions", blockTxs, confirmed},
	{http.MethodGet, "blocks/*/proofFor/*", proofFor, confirmed},
	{http.MethodGet, "blocks/lastHeaders/*", lastHeaders, confirmed},
	{http.MethodGet, "blocks/chainSlice", chainSlice, confirmed},
}

// addHeaders writes the headers of the blocks from a height to another one.
func (q *request) addHeaders(from, to int) error {
	q.Add("[")
	for h := from; h <= to; h++ {
		b, err := q.v.Block(model.HeightPk(h))
		if err != nil {
			return err
		}
		q.Comma(h - from)
		q.AddHeader(b)
		if err := q.Flush(); err != nil {
			return err
		}
	}
	q.Add("]")
	return nil
}

// blockIDs writes the ids of the blocks from the height that is the offset on.
func blockIDs(q *request, _ []string) error {
	q.Query["limit"] = or(q.Query["limit"], "50")
	p, err := q.page("headers")
	if err != nil {
		return err
	}
	q.Add("[")
	from := max(p.offset, 1)
	to := min(p.offset+p.limit-1, q.v.Height())
	n := 0
	if from <= to {
		err = q.v.EachID(model.HeightPk(from), model.HeightPk(to), func(id model.Hash) {
			q.Comma(n)
			n++
			q.Hex(id[:])
		})
	}
	q.Add("]")
	return err
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func blocksAt(q *request, args []string) error {
	n := 0
	q.Query["height"] = args[0]
	if err := q.number("height", &n); err != nil {
		return err
	}
	q.Add("[")
	if n >= 1 && n <= q.v.Height() {
		b, err := q.v.Block(model.HeightPk(n))
		if err != nil {
			return err
		}
		q.Hex(b.ID[:])
	}
	q.Add("]")
	return nil
}

func header(q *request, args []string) error {
	b, err := q.blockNamed(args[0])
	if err != nil {
		return err
	}
	q.AddHeader(b)
	return nil
}

// blockTxs writes the transactions of a block as the node stores them.
func blockTxs(q *request, args []string) error {
	b, err := q.blockNamed(args[0])
	if err != nil {
		return err
	}
	txs, err := q.txsIn(b)
	if err != nil {
		return err
	}
	q.Add(`{"headerId":`)
	q.Hex(b.ID[:])
	q.Add(`,"transactions":[`)
	size := 0
	for i, t := range txs {
		q.Comma(i)
		q.AddTx(t, nil)
		size += t.Size
	}
	q.Add(`],"blockVersion":`)
	q.Int(int(b.Header.Version))
	q.Add(`,"size":`)
	q.Int(boxes.SectionSize(b, size))
	q.Add("}")
	return nil
}

func (q *request) txsIn(b *boxes.Block) ([]*boxes.Tx, error) {
	pks, err := b.TxPks()
	if err != nil {
		return nil, err
	}
	return q.v.Txs(pks)
}

// proofFor writes the Merkle proof of a transaction in a block.
func proofFor(q *request, args []string) error {
	b, err := q.blockNamed(args[0])
	if err != nil {
		return err
	}
	id, err := parseID(args[1])
	if err != nil {
		return err
	}
	txs, err := q.txsIn(b)
	if err != nil {
		return err
	}
	leaves := boxes.Leaves(b.Header.Version, txs)
	for i := range txs {
		if !bytes.Equal(leaves[i], id[:]) {
			continue
		}
		q.Add(`{"leafData":`)
		q.ID(id)
		q.Add(`,"levels":[`)
		for n, step := range boxes.Proof(leaves, i) {
			q.Comma(n)
			q.Add("[")
			q.Hex(step.Sibling)
			if step.Right {
				q.Add(",1]")
			} else {
				q.Add(",0]")
			}
		}
		q.Add("]}")
		return nil
	}
	return errNotFound
}

func lastHeaders(q *request, args []string) error {
	n := 0
	q.Query["count"] = args[0]
	if err := q.number("count", &n); err != nil {
		return err
	}
	if n > maxItems {
		return bad("No more than %d headers can be requested", maxItems)
	}
	return q.addHeaders(max(1, q.v.Height()-n+1), q.v.Height())
}

// chainSlice writes the headers from one height to another one; without heights, the last header.
func chainSlice(q *request, _ []string) error {
	from, to := 1, -1
	for name, at := range map[string]*int{"fromHeight": &from, "toHeight": &to} {
		if err := q.number(name, at); err != nil {
			return err
		}
	}
	if to < 0 || to > q.v.Height() {
		to = q.v.Height()
	}
	if from = max(from, 1); to-from >= maxItems {
		return bad("No more than %d headers can be requested", maxItems)
	}
	return q.addHeaders(from, to)
}
