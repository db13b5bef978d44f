package core_test

import (
	"math/rand/v2"
	"slices"

	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/model"
)

// someOf is a set with a third of all values, including values that no output has yet.
type someOf uint32

func (s someOf) Has(value []byte) bool {
	sum := uint32(s)
	for _, b := range value {
		sum = sum*31 + uint32(b)
	}
	return sum%3 == 0
}

// withList adds a random watch list to a filter, and returns whether an output has one of its values.
func (r *reference) withList(rng *rand.Rand, what *changes.Filter) (in func(o *refOutput) bool) {
	index, values := rng.IntN(len(r.indexes)), someOf(rng.Uint32())
	for !slices.ContainsFunc(r.outputs(), func(o *refOutput) bool {
		return slices.ContainsFunc(o.Keys, func(k model.Key) bool { return k.Index == index })
	}) {
		index = rng.IntN(len(r.indexes))
	}
	what.List = &query.WatchList{Index: r.indexes[index].Name, Values: values}
	return func(o *refOutput) bool {
		return slices.ContainsFunc(o.Keys, func(k model.Key) bool { return k.Index == index && values.Has(k.Value) })
	}
}
