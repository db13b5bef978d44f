package query

import (
	"math/big"
	"slices"
)

// Directions of transactions in a [HistoryFilter].
const (
	Received = "received"
	Sent     = "sent"
)

// HistoryFilter selects transactions of a history by the change of a balance: that of the coin, or that of an asset.
type HistoryFilter struct {
	Direction string // [Received] if the balance grows, [Sent] if it shrinks; empty: both, or it stays
	Asset     string // an id; empty: the coin
}

// Set reports whether the filter leaves out transactions.
func (f HistoryFilter) Set() bool { return f != HistoryFilter{} }

// Has reports whether a transaction is selected.
func (f HistoryFilter) Has(t *HistoryTxAnswer) bool {
	in, out := t.Received, t.Sent
	if f.Asset != "" {
		i := slices.IndexFunc(t.Assets, func(a HistoryAssetAnswer) bool { return a.Asset == f.Asset })
		if i < 0 {
			return false
		}
		in, out = t.Assets[i].Received, t.Assets[i].Sent
	}
	if f.Direction == "" {
		return true
	}
	received, sent := new(big.Int), new(big.Int)
	received.SetString(in, 10) // our own amounts are valid
	sent.SetString(out, 10)
	return received.Cmp(sent) == map[string]int{Received: 1, Sent: -1}[f.Direction]
}
