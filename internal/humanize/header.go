package humanize

import (
	"encoding/json"
	"maps"
	"slices"
)

// Header returns the names and values of a block header's fields: from its method People without empty values, or else
// from its JSON, ordered by name.
func Header(header any) (fields [][2]string) {
	if h, ok := header.(interface{ People() [][2]string }); ok {
		return slices.DeleteFunc(h.People(), func(f [2]string) bool { return f[1] == "" })
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return nil
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := string(values[name])
		var s string
		if json.Unmarshal(values[name], &s) == nil {
			v = s
		}
		fields = append(fields, [2]string{name, v})
	}
	return fields
}
