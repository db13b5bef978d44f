package indexexpr

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Note is a reason why an expression had no value.
type Note struct {
	Reason string `json:"reason"`
	Times  int    `json:"times"`
}

// Notes collect why expressions have no values. All runs of an [Indexes] share them.
type Notes struct {
	mu    sync.Mutex
	times map[string]int
}

// Explain makes runs that are bound from now on collect notes, which costs time.
func (x *Indexes) Explain() *Notes {
	x.notes = &Notes{times: map[string]int{}}
	return x.notes
}

// List returns the notes, the most frequent first.
func (n *Notes) List() []Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := []Note{}
	for _, reason := range slices.Sorted(maps.Keys(n.times)) {
		all = append(all, Note{reason, n.times[reason]})
	}
	slices.SortStableFunc(all, func(a, b Note) int { return cmp.Compare(b.Times, a.Times) })
	return all
}

// add counts a reason. n may be nil.
func (n *Notes) add(reason string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.times[reason]++
}

// none notes a call of a function whose result is nil.
func (n *Notes) none(name string, f function, args []any) {
	for i, a := range args {
		switch got := classOfValue(a); {
		case got == 0:
			n.add(name + "() got nil")
			return
		case got&f.takes[i] == 0:
			n.add(name + "() expects " + f.takes[i].String() + ", got " + got.String())
			return
		}
	}
	n.add(name + "() is nil: it returns " + f.doc)
}
