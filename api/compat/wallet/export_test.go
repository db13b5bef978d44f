package wallet

import "slices"

// InStatusOrder sorts unconfirmed transactions in place in the order of [compareInStatus].
func InStatusOrder(entries []Entry) []Entry {
	slices.SortFunc(entries, func(a, b Entry) int {
		return compareInStatus(&a.Tx, &b.Tx, a.UnconfirmedParent, b.UnconfirmedParent)
	})
	return entries
}

// StatusOf returns the status hash of a history.
func StatusOf(entries []Entry) (status [32]byte) {
	h := newStatusHash()
	for i := range entries {
		h.add(&entries[i])
	}
	h.sum.Sum(status[:0])
	return status
}

// Lists of tests are long, so that they are shared.
func init() { longList = 1 }
