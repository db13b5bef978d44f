package query

import (
	"container/heap"
	"slices"
)

// topN holds the first limit items in an order, as a heap with the last of them at the root.
type topN[T any] struct {
	limit  int
	before func(a, b T) bool
	items  []T
}

func (t *topN[T]) Len() int           { return len(t.items) }
func (t *topN[T]) Less(i, j int) bool { return t.before(t.items[j], t.items[i]) }
func (t *topN[T]) Swap(i, j int)      { t.items[i], t.items[j] = t.items[j], t.items[i] }
func (t *topN[T]) Push(v any)         { t.items = append(t.items, v.(T)) }
func (t *topN[T]) Pop() any           { panic("items are only replaced") }

func (t *topN[T]) full() bool { return len(t.items) == t.limit }

// offer adds v, unless limit items come before it, and returns the item that v replaces, if any.
func (t *topN[T]) offer(v T) (added bool, evicted *T) {
	if !t.full() {
		heap.Push(t, v)
		return true, nil
	}
	last := t.items[0]
	if !t.before(v, last) {
		return false, nil
	}
	t.items[0] = v
	heap.Fix(t, 0)
	return true, &last
}

// sorted returns the items in order. The heap is no longer valid.
func (t *topN[T]) sorted() []T {
	slices.SortFunc(t.items, func(a, b T) int {
		switch {
		case t.before(a, b):
			return -1
		case t.before(b, a):
			return 1
		}
		return 0
	})
	return t.items
}
