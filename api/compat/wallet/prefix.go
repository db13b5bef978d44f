package wallet

import "birthmark/core/query"

// AddressesByPrefix returns up to n addresses that begin with a prefix. The error is of kind Usage (not_kept) without
// the option prefix of index address.
func (v *View) AddressesByPrefix(prefix string, n int) ([]string, error) {
	a, err := v.queries.ValuesByText(v.q.Ctx, addressIndex, prefix, query.Page{Limit: n})
	if err != nil {
		return nil, err
	}
	addresses := make([]string, len(a.Values))
	for i := range a.Values {
		addresses[i] = a.Values[i].Value
	}
	return addresses, nil
}
