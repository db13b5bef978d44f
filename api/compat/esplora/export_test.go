package esplora

import (
	"birthmark/api/compat/wallet"
	"birthmark/api/jsonappend"
)

// BlockObject returns the JSON object of a block.
func BlockObject(b *wallet.Block) string {
	return string(jsonappend.Append(nil, (&protocol{}).blockOf(b)))
}

// TxObject returns the JSON object of a transaction.
func TxObject(c *wallet.Chain, tx *wallet.Tx) string {
	return string(jsonappend.Append(nil, newProtocol(c).txOf(tx)))
}

// Routes returns the methods and paths of all endpoints of Bitcoin.
func Routes() (all []string) {
	for _, e := range (&protocol{}).endpoints() {
		all = append(all, e.Method+" "+e.Path)
	}
	return all
}
