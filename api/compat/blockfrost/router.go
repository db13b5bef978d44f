package blockfrost

import (
	"net/http"
	"strings"
)

// part is a node in the tree of paths.
type part struct {
	literal  map[string]*part
	variable *part
	routes   map[string]*route // by method
}

func newPart() *part { return &part{literal: map[string]*part{}, routes: map[string]*route{}} }

// tree has the routes by the parts of their paths.
var tree = newPart()

func init() {
	for i := range routes {
		at := tree
		for _, p := range strings.Split(routes[i].path, "/") {
			if strings.HasPrefix(p, "{") {
				routes[i].variables = append(routes[i].variables, strings.Trim(p, "{}"))
				if at.variable == nil {
					at.variable = newPart()
				}
				at = at.variable
				continue
			}
			if at.literal[p] == nil {
				at.literal[p] = newPart()
			}
			at = at.literal[p]
		}
		at.routes[routes[i].method] = &routes[i]
	}
}

// find returns the route of a request and the variable parts of its path; nil if there is none.
func find(method, path string) (*route, []string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return tree.find(method, strings.Split(path, "/"), nil)
}

// find prefers a literal part, and takes a variable one if the rest of the path does not follow the literal.
func (p *part) find(method string, rest, args []string) (*route, []string) {
	if len(rest) == 0 {
		return p.routes[method], args
	}
	if next := p.literal[rest[0]]; next != nil {
		if r, found := next.find(method, rest[1:], args); r != nil {
			return r, found
		}
	}
	if p.variable != nil {
		return p.variable.find(method, rest[1:], append(args[:len(args):len(args)], rest[0]))
	}
	return nil, nil
}
