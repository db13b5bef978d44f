package setops

import (
	"container/heap"
	"iter"
	"slices"
)

// Top holds the first Limit items in the order of Before, as a heap with the last of them at the root.
type Top[T any] struct {
	Limit  int
	Before func(a, b T) bool
	items  []T
}

func (t *Top[T]) Len() int           { return len(t.items) }
func (t *Top[T]) Less(i, j int) bool { return t.Before(t.items[j], t.items[i]) }
func (t *Top[T]) Swap(i, j int)      { t.items[i], t.items[j] = t.items[j], t.items[i] }
func (t *Top[T]) Push(v any)         { t.items = append(t.items, v.(T)) }
func (t *Top[T]) Pop() any           { panic("items are only replaced") }

// Last returns the last item; ok is false if there are fewer than Limit.
func (t *Top[T]) Last() (last T, ok bool) {
	if ok = len(t.items) == t.Limit; ok {
		last = t.items[0]
	}
	return last, ok
}

// Offer adds v, unless Limit items come before it, and returns the item that v replaces, if any.
func (t *Top[T]) Offer(v T) (added bool, evicted *T) {
	last, full := t.Last()
	if !full {
		heap.Push(t, v)
		return true, nil
	}
	if !t.Before(v, last) {
		return false, nil
	}
	t.items[0] = v
	heap.Fix(t, 0)
	return true, &last
}

// Items yields the items in no order.
func (t *Top[T]) Items() iter.Seq[T] { return slices.Values(t.items) }

// Sorted returns the items in order. The heap is no longer valid.
func (t *Top[T]) Sorted() []T {
	slices.SortFunc(t.items, func(a, b T) int {
		switch {
		case t.Before(a, b):
			return -1
		case t.Before(b, a):
			return 1
		}
		return 0
	})
	return t.items
}
