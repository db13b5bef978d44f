package esplora

import "birthmark/api/compat/wallet"

// BlockObject returns the JSON object of a block.
func BlockObject(b *wallet.Block) string {
	var q request
	q.block(b)
	return string(q.out)
}

// TxObject returns the JSON object of a transaction.
func TxObject(c *wallet.Chain, tx *wallet.Tx) string {
	q := request{handler: &handler{Options: Options{Chain: c}}}
	q.tx(tx)
	return string(q.out)
}

// Routes returns the methods and paths of all routes.
func Routes() (all []string) {
	for _, r := range routes {
		all = append(all, r.method+" "+r.path)
	}
	return all
}
