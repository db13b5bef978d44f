package blockfrost

import (
	"reflect"
	"slices"

	"birthmark/api/compat/blockfrost/actions"
)

// Operation is an endpoint with the condition of its answer, or with the reason why it has none.
type Operation struct {
	Method, Path, With, Reason string
	parameters                 []string
}

// Takes reports whether the query of the operation has a parameter.
func (o Operation) Takes(name string) bool { return slices.Contains(o.parameters, name) }

// Operations returns all endpoints.
func Operations() (all []Operation) {
	of := func(f any) uintptr { return reflect.ValueOf(f).Pointer() }
	for _, r := range routes {
		o := Operation{r.method, "/" + r.path, r.with, r.reason, nil}
		if r.takes != nil {
			o.parameters = map[uintptr][]string{
				of(paged): {"count", "page"}, of(listed): {"count", "page", "order"},
				of(ranged):                {"count", "page", "order", "from", "to"},
				of(actions.FilteredDReps): {"count", "page", "order", "order_by", "retired", "expired"},
			}[of(r.takes)]
		}
		all = append(all, o)
	}
	return all
}
