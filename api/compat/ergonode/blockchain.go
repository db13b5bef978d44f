package ergonode

import (
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/model"
)

var blockchainEndpoints = []endpoint{
	{http.MethodGet, "blockchain/indexedHeight", indexedHeight, confirmed},
	{http.MethodGet, "blockchain/block/byHeaderId/*", blockByID, confirmed},
	{http.MethodPost, "blockchain/block/byHeaderIds", blocksByID, confirmed},
	{http.MethodGet, "blockchain/transaction/byId/*", txByID, confirmed},
	{http.MethodGet, "blockchain/transaction/byIndex/*", txByIndex, confirmed},
	{http.MethodGet, "blockchain/transaction/byAddress/*", txsOf, confirmed},
	{http.MethodPost, "blockchain/transaction/byAddress", posted(txsOf), confirmed},
	{http.MethodGet, "blockchain/transaction/range", txRange, confirmed},
	{http.MethodGet, "blockchain/box/byId/*", boxByID, confirmed},
	{http.MethodGet, "blockchain/box/byIndex/*", boxByIndex, confirmed},
	{http.MethodGet, "blockchain/box/range", boxRange, confirmed},
	{http.MethodGet, "blockchain/box/byAddress/*", boxesOfAddress, confirmed},
	{http.MethodPost, "blockchain/box/byAddress", posted(boxesOfAddress), confirmed},
	{http.MethodPost, "blockchain/box/byErgoTree", posted(boxesOfTree), confirmed},
	{http.MethodGet, "blockchain/box/unspent/byAddress/*", unspentOfAddress, unconfirmed},
	{http.MethodPost, "blockchain/box/unspent/byAddress", posted(unspentOfAddress), unconfirmed},
	{http.MethodPost, "blockchain/box/unspent/byErgoTree", posted(unspentOfTree), unconfirmed},
	{http.MethodGet, "blockchain/box/byTemplateHash/*", boxesOfTemplate, confirmed},
	{http.MethodGet, "blockchain/box/unspent/byTemplateHash/*", unspentOfTemplate, unconfirmed},
	{http.MethodGet, "blockchain/box/byTokenId/*", boxesOfToken, confirmed},
	{http.MethodGet, "blockchain/box/unspent/byTokenId/*", unspentOfToken, unconfirmed},
	{http.MethodGet, "blockchain/token/byId/*", tokenByID, confirmed},
	{http.MethodPost, "blockchain/tokens", tokensByID, confirmed},
	{http.MethodPost, "blockchain/balance", posted(balance), unconfirmed},
	{http.MethodGet, "blockchain/balanceForAddress/*", balance, unconfirmed},
}

// posted returns an endpoint whose argument is the body.
func posted(answer func(*request, []string) error) func(*request, []string) error {
	return func(q *request, _ []string) error {
		text, err := q.text()
		if err != nil {
			return err
		}
		return answer(q, []string{text})
	}
}

func indexedHeight(q *request, _ []string) error {
	q.Add(`{"indexedHeight":`)
	q.Int(q.v.Height())
	q.Add(`,"fullHeight":`)
	q.Int(q.v.Height())
	q.Add("}")
	return nil
}

// blockNamed returns a block by its id.
func (q *request) blockNamed(text string) (*boxes.Block, error) {
	id, err := parseID(text)
	if err != nil {
		return nil, err
	}
	b, err := q.v.BlockOf(model.Hash(id))
	if err == nil && b == nil {
		err = errNotFound
	}
	return b, err
}

func blockByID(q *request, args []string) error {
	b, err := q.blockNamed(args[0])
	if err != nil {
		return err
	}
	return q.addBlock(b)
}

func blocksByID(q *request, _ []string) error {
	ids, err := q.ids()
	if err != nil {
		return err
	}
	q.Add("[")
	n := 0
	for _, id := range ids {
		b, err := q.v.BlockOf(model.Hash(id))
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		q.Comma(n)
		n++
		if err := q.addBlock(b); err != nil {
			return err
		}
	}
	q.Add("]")
	return nil
}

func (q *request) addBlock(b *boxes.Block) error {
	pks, err := b.TxPks()
	if err != nil {
		return err
	}
	q.Add(`{"header":`)
	q.AddHeader(b)
	q.Add(`,"transactions":`)
	if err := q.addTxs(pks); err != nil {
		return err
	}
	q.Add(`,"height":`)
	q.Int(int(b.Height))
	q.Add(`,"size":`)
	q.Int(b.Size)
	q.Add("}")
	return nil
}

func txByID(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	pk, ok, err := q.v.TxOf(model.Hash(id))
	if err != nil {
		return err
	}
	if !ok {
		return errNotFound
	}
	return q.addTx(pk)
}

// index reads a number in a path that is below a limit.
func (q *request) index(text string, below uint64) (uint64, error) {
	q.Query["index"] = text
	n := 0
	if _, err := q.Number("index", 64, &n); err != nil {
		return 0, err
	}
	if uint64(n) >= below {
		return 0, errNotFound
	}
	return uint64(n), nil
}

func txByIndex(q *request, args []string) error {
	n, err := q.index(args[0], q.v.TxCount())
	if err != nil {
		return err
	}
	pk, err := q.v.TxAt(n)
	if err != nil {
		return err
	}
	return q.addTx(pk)
}

func boxByIndex(q *request, args []string) error {
	genesis := q.v.GenesisBoxes()
	n, err := q.index(args[0], q.v.Boxes()-genesis)
	if err != nil {
		return err
	}
	pk, err := q.v.BoxAt(n + genesis)
	if err != nil {
		return err
	}
	return q.addBoxes([]model.UtxoPk{pk}, false, false)
}

// newest returns the first number and the size of the window of a range, which begins at the newest.
func (p *page) newest(total uint64) (first, n uint64) {
	offset, limit := min(uint64(p.offset), total), uint64(p.limit)
	n = min(limit, total-offset)
	return total - offset - n, n
}

func txRange(q *request, _ []string) error {
	p, err := q.page("transactions")
	if err != nil {
		return err
	}
	first, n := p.newest(q.v.TxCount())
	pks, err := q.v.TxNumbers(first, n)
	if err != nil {
		return err
	}
	ids, err := q.v.Q.TxIDs(pks)
	if err != nil {
		return err
	}
	q.Add("[")
	for i := range ids {
		q.Comma(i)
		q.Hex(ids[len(ids)-1-i][:])
	}
	q.Add("]")
	return nil
}

func boxRange(q *request, _ []string) error {
	p, err := q.page("boxes")
	if err != nil {
		return err
	}
	genesis := q.v.GenesisBoxes()
	first, n := p.newest(q.v.Boxes() - genesis)
	pks, err := q.v.BoxNumbers(first+genesis, n)
	if err != nil {
		return err
	}
	ids, err := q.v.BoxIDs(pks)
	if err != nil {
		return err
	}
	q.Add("[")
	for i := range ids {
		q.Comma(i)
		q.ID(ids[len(ids)-1-i])
	}
	q.Add("]")
	return nil
}

// txsOf lists the transactions of an address.
func txsOf(q *request, args []string) error {
	p, err := q.page("transactions")
	if err != nil {
		return err
	}
	h, err := q.holder(args[0], false)
	if err != nil {
		return err
	}
	t, err := q.v.Totals(h, false)
	if err != nil {
		return err
	}
	q.Add(`{"items":`)
	if h.Birth == nil {
		q.Add("[]")
	} else {
		l, err := q.v.History(h, false, true)
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
		if err := q.addTxs(txs); err != nil {
			return err
		}
	}
	q.addTotal(t.Txs)
	return nil
}

func (q *request) addTotal(n int) {
	q.Add(`,"total":`)
	q.Int(n)
	q.Add("}")
}
