package boxes

import (
	"net/http"
	"strconv"
	"strings"
)

// Router finds the endpoints of an API by the parts of paths. An endpoint E has a method and a path, in which * is any
// part.
type Router[E any] map[string][]route[E] // by the number of parts and the first part, which is never *

type route[E any] struct {
	method, path string
	endpoint     E
}

// NewRouter returns the router of all endpoints of some lists.
func NewRouter[E any](of func(E) (method, path string), lists ...[]E) Router[E] {
	r := Router[E]{}
	for _, list := range lists {
		for _, e := range list {
			method, path := of(e)
			key := startOf(strings.Split(path, "/"))
			r[key] = append(r[key], route[E]{method, path, e})
		}
	}
	return r
}

func startOf(path []string) string { return strconv.Itoa(len(path)) + path[0] }

// Find returns the first endpoint for a path, and the parts in place of *. The endpoint is nil if no endpoint has the
// path and the method; other is then the method of one that has the path, empty if no endpoint has it.
func (r Router[E]) Find(method string, path []string) (e *E, args []string, other string) {
	all := r[startOf(path)]
	for i := range all {
		args, ok := match(all[i].path, path)
		if !ok {
			continue
		}
		if all[i].method == method || all[i].method == http.MethodGet && method == http.MethodHead {
			return &all[i].endpoint, args, ""
		}
		other = all[i].method
	}
	return nil, nil, other
}

func match(pattern string, path []string) (args []string, ok bool) {
	for _, part := range path {
		var want string
		if want, pattern, _ = strings.Cut(pattern, "/"); want == "*" {
			args = append(args, part)
		} else if want != part {
			return nil, false
		}
	}
	return args, true
}
