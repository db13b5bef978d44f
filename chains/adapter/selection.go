package adapter

import (
	"slices"
	"strings"

	"birthmark/model"
)

// Selected is a built-in index whose values a decoder emits.
type Selected struct {
	Position int // in the list of names: [model.Key.Index]
	Builtin  int // position among the chain's built-in indexes
}

// Select finds the built-in indexes among names, in the order of names. Names of custom indexes are valid and not
// selected. An error is of kind [model.Usage], code unknown_index.
func (b *Base) Select(names []string) ([]Selected, error) {
	var selected []Selected
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, model.Errorf(model.Usage, "unknown_index", "duplicate index %q", name)
		}
		if at := slices.IndexFunc(b.builtin, func(x model.Index) bool { return x.Name == name }); at >= 0 {
			selected = append(selected, Selected{i, at})
		} else if !b.custom.Has(name) {
			var known []string
			for _, x := range b.Indexes() {
				known = append(known, x.Name)
			}
			return nil, model.Errorf(model.Usage, "unknown_index", "unknown index %s of %s: expected %s", Quote(name), b.name, strings.Join(known, ", "))
		}
	}
	return selected, nil
}
