package ogmios

import (
	"maps"
	"slices"
)

// Methods returns the methods that are answered.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }
