package blockfrost

import (
	"slices"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/model"
)

// txHash is an entry of a list of transactions.
type txHash struct {
	TxHash string `json:"tx_hash"`
}

// addressTxsJSON is an address with its transactions in a block.
type addressTxsJSON struct {
	Address      string   `json:"address"`
	Transactions []txHash `json:"transactions"`
}

// blockAddresses answers the addresses that the transactions of a block pay or spend from, ordered by their text.
func blockAddresses(q *request) error {
	h, err := q.findBlock(q.Args[0])
	if err != nil {
		return err
	}
	p := q.Page
	row, err := q.Q.BlockRow(h)
	if err != nil {
		return err
	}
	first, err := q.TxAt(h, 0)
	if err != nil {
		return err
	}
	ids, err := q.Q.BlockTxIDs(h, first.TxIndex(), row.TxCount)
	if err != nil {
		return err
	}
	var pks []model.UtxoPk
	var in []int // the transaction of each output in pks
	for i := range ids {
		tx, err := q.TxAt(h, i)
		if err != nil {
			return err
		}
		spent, err := q.Q.SpendsOf(tx)
		if err != nil {
			return err
		}
		created, err := q.Q.OutputsOf(tx)
		if err != nil {
			return err
		}
		for _, pk := range slices.Concat(spent, created) {
			pks, in = append(pks, pk), append(in, i)
		}
	}
	owners, err := q.Owners(pks)
	if err != nil {
		return err
	}
	byAddress := map[string][]int{}
	for i, o := range owners {
		if at := byAddress[o.Text]; len(at) == 0 || at[len(at)-1] != in[i] {
			byAddress[o.Text] = append(at, in[i])
		}
	}
	all := []addressTxsJSON{}
	for a, at := range byAddress {
		e := addressTxsJSON{Address: a}
		for _, i := range at {
			e.Transactions = append(e.Transactions, txHash{ids[i].String()})
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b addressTxsJSON) int { return compareText(a.Address, b.Address) })
	q.Answer = exchange.SlicePage(all, exchange.Paging{Count: p.Count, Page: p.Page})
	return nil
}
