package blockbook

import (
	"maps"
	"slices"
)

var DescribeData = describeData

// Operations returns the operations of REST, with their methods, and of WebSocket.
func Operations() (rest, ws []string) {
	for _, o := range operations {
		rest = append(rest, o.method+" "+o.path)
	}
	return rest, slices.Sorted(maps.Keys(methods))
}
