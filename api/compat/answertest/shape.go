package answertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// SameShape compares the keys and the types of an answer with those of a real one: see [Shape].
func SameShape(t testing.TB, name string, got, real []byte, open ...string) {
	t.Helper()
	Shape{Open: open}.Compare(t, name, got, real)
}

// Shape defines how an answer may differ from a recorded answer of the original program. The zero Shape compares keys
// and types. A null of either has any type, and objects of lists have the same keys. Keys are written as in [Rule]:
// "vin.txid".
type Shape struct {
	Open     []string // members of objects under these keys, such as registers, have any name
	Optional []string // either answer may lack these keys
	Values   bool     // values are equal too, and lists have the same members in the same order,
	Differ   []string // except below these keys
}

// Compare fails the test for each difference of an answer from the real one.
func (s Shape) Compare(t testing.TB, name string, got, real []byte) {
	t.Helper()
	for _, fault := range s.differences("", parse(t, got), parse(t, real)) {
		t.Errorf("%s: %s", name, fault)
	}
}

func (s Shape) differences(at string, got, real any) (faults []string) {
	if got == nil || real == nil {
		return nil
	}
	if a, b := kind(got), kind(real); a != b {
		return []string{fmt.Sprintf("%s is a %s, at the original a %s", at, a, b)}
	}
	if under(at, s.Differ) {
		s.Values = false
	}
	switch want := real.(type) {
	case []any:
		have := got.([]any)
		if s.Values && len(have) != len(want) {
			return []string{fmt.Sprintf("%s has %d members, at the original %d", at, len(have), len(want))}
		}
		for i, a := range have {
			for k, b := range want {
				if !s.Values || i == k {
					faults = append(faults, s.differences(at+"[]", a, b)...)
				}
			}
		}
	case map[string]any:
		have := got.(map[string]any)
		if under(at, s.Open) {
			for _, a := range have {
				for _, b := range want {
					faults = append(faults, s.differences(at+".*", a, b)...)
				}
			}
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if value, ok := have[key]; ok {
				faults = append(faults, s.differences(at+"."+key, value, want[key])...)
			} else if !under(at+"."+key, s.Optional) {
				faults = append(faults, at+" has no "+key)
			}
		}
		for key := range have {
			if _, ok := want[key]; !ok && !under(at+"."+key, s.Optional) {
				faults = append(faults, at+" has "+key+", which the original does not have")
			}
		}
	default:
		if s.Values && got != real {
			faults = append(faults, fmt.Sprintf("%s is %v, at the original %v", at, got, real))
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

// under reports whether a place ends in one of the keys.
func under(at string, keys []string) bool {
	at = strings.ReplaceAll(at, "[]", "")
	return slices.ContainsFunc(keys, func(key string) bool { return strings.HasSuffix(at, "."+key) })
}

func kind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	}
	return "text"
}

// parse parses JSON with exact numbers; any other answer is a text.
func parse(t testing.TB, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil || len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
		return string(raw)
	}
	return v
}
