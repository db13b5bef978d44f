package electrum

import (
	"maps"
	"slices"
)

// Methods returns the names of all methods.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }
