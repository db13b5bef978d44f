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

// SameShape compares the keys and the types of an answer with those of a real one. A null of either has any type, and
// members of objects under the keys of open, such as registers, have any name. Objects of lists have the same keys.
func SameShape(t testing.TB, name string, got, real []byte, open ...string) {
	t.Helper()
	for _, fault := range differences("", parse(t, got), parse(t, real), open) {
		t.Errorf("%s: %s", name, fault)
	}
}

func differences(at string, got, real any, open []string) (faults []string) {
	if got == nil || real == nil {
		return nil
	}
	if a, b := kind(got), kind(real); a != b {
		return []string{fmt.Sprintf("%s is a %s, at the original a %s", at, a, b)}
	}
	switch want := real.(type) {
	case []any:
		for _, a := range got.([]any) {
			for _, b := range want {
				faults = append(faults, differences(at+"[]", a, b, open)...)
			}
		}
	case map[string]any:
		have := got.(map[string]any)
		if slices.Contains(open, at[strings.LastIndex(at, ".")+1:]) {
			for _, a := range have {
				for _, b := range want {
					faults = append(faults, differences(at+".*", a, b, open)...)
				}
			}
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if value, ok := have[key]; ok {
				faults = append(faults, differences(at+"."+key, value, want[key], open)...)
			} else {
				faults = append(faults, at+" has no "+key)
			}
		}
		for key := range have {
			if _, ok := want[key]; !ok {
				faults = append(faults, at+" has "+key+", which the original does not have")
			}
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults)
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
