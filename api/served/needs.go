package served

import (
	"birthmark/core/schema"
	"birthmark/model"
)

// Needs lists the parts of a database and the abilities of a node that an API uses. A server compares them with its own
// before it serves the API.
type Needs struct {
	Chain  string   // name of the chain that has the API
	Also   []string // names of other chains that have it
	Preset string   // value of the setting indexes that has all of Parts; empty: the API reads no index
	Node   string   // URI of a node that the API can use, as an example
	Parts  []Need
}

// Need is one part of [Needs]: an index, raw transactions, an ability of the node, or its unconfirmed transactions.
type Need struct {
	Index   string            // name; empty: the need is no index
	Options schema.Features   // that the index must have
	Custom  *model.Definition // that the index must have; nil: it is built in

	Raw     bool
	Node    Ability // nil: none
	Mempool bool

	Without string // answers that the API does not give without it; empty: the API is not served without it
}

// Custom returns the need of a custom index.
func Custom(d *model.Definition, options schema.Features, without string) Need {
	return Need{Index: d.Name, Options: options, Custom: d, Without: without}
}

// Ability reports whether a node can do something.
type Ability func(node model.Source) bool

// Can is the ability of nodes that implement T.
func Can[T any](node model.Source) bool {
	_, ok := node.(T)
	return ok
}
