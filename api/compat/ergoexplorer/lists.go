package ergoexplorer

import (
	"iter"
	"slices"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/core/pending"
)

// paged returns a list with its total.
func paged[T any](v *view, items iter.Seq2[T, error], total int) any {
	return &boxes.Listed[T]{Items: exchange.ItemsOf(v.r, items), Total: total}
}

// valuesOf yields the values of the items of a list, without unconfirmed transactions that have left the node.
func valuesOf[T, V any](all []T, value func(T) (V, error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for _, x := range all {
			v, err := value(x)
			if pending.HasLeft(err) {
				continue
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// once yields one batch of boxes.
func once(all []boxes.Box) iter.Seq2[[]boxes.Box, error] {
	return func(yield func([]boxes.Box, error) bool) { yield(all, nil) }
}

// inOrder yields the batches of several lists.
func inOrder(lists ...iter.Seq2[[]boxes.Box, error]) iter.Seq2[[]boxes.Box, error] {
	return func(yield func([]boxes.Box, error) bool) {
		for _, batches := range lists {
			for batch, err := range batches {
				if !yield(batch, err) {
					return
				}
			}
		}
	}
}

// unspentOf returns the boxes that no unconfirmed transaction spends.
func unspentOf(all []boxes.Box) []boxes.Box {
	return slices.DeleteFunc(all, func(b boxes.Box) bool { return b.Spend != nil })
}

func newestFirst(txs iter.Seq[*pending.Tx]) []*pending.Tx {
	all := slices.Collect(txs)
	slices.Reverse(all)
	return all
}
