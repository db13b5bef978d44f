package explorer

import (
	"cmp"
	"strconv"

	"birthmark/core/query"
)

// walletRows is the maximum number of used addresses on the page of a wallet.
const walletRows = 200

// walletPart is the part of the page of a wallet about its addresses.
type walletPart struct {
	Count int // of used addresses
	Used  []walletRow
	More  int // used addresses that are not shown
	Next  []walletRow
}

// walletRow is an address of a wallet.
type walletRow struct {
	Path    string
	Address link
	Balance amount
	TxCount uint64
}

// walletPart returns the addresses of a wallet in the order of branches and positions; nil for a single value.
func (r *valueReader) walletPart(d *query.DerivedAnswer) *walletPart {
	if d == nil {
		return nil
	}
	row := func(v query.DerivedValueAnswer) walletRow {
		path := cmp.Or(v.Path, strconv.Itoa(v.Branch)+"/"+strconv.Itoa(v.Index))
		return walletRow{Path: path, Address: r.ValueLink(r.index.Name, v.Value)}
	}
	p := &walletPart{Count: d.UsedCount, More: max(0, len(d.Used)-walletRows)}
	for _, u := range d.Used[:len(d.Used)-p.More] {
		shown := row(u.DerivedValueAnswer)
		shown.Balance, shown.TxCount = r.Amount(u.Balance), u.TxCount
		p.Used = append(p.Used, shown)
	}
	for _, n := range d.Next {
		p.Next = append(p.Next, row(n))
	}
	return p
}
