package kupo

import (
	"strconv"
	"strings"
)

// patterns answers that every output is indexed. Kupo adds patterns; here nothing changes.
func patterns(r *request) (any, error) {
	_, err := validPattern(r)
	return []string{anything}, err
}

// deletePattern answers that nothing was deleted, because * is the only pattern.
func deletePattern(r *request) (any, error) {
	text, err := validPattern(r)
	if err == nil && text == anything {
		err = errDelete
	}
	return &deletedValue{}, err
}

// deleteMatches refuses to delete, as Kupo does while a pattern of its settings overlaps: * overlaps every pattern.
func deleteMatches(r *request) (any, error) {
	_, err := validPattern(r)
	if err == nil {
		err = errDelete
	}
	return nil, err
}

// validPattern returns the pattern of the path, * for an empty one. It can be one of metadata labels.
func validPattern(r *request) (text string, err error) {
	if text = patternArg(r); text == "" {
		text = anything
	}
	if _, ok := readPattern(text); !ok && !isLabel(text) {
		err = errPattern
	}
	return text, err
}

// isLabel reports whether a pattern is one of a metadata label: {721}.
func isLabel(text string) bool {
	digits, opened := strings.CutPrefix(text, "{")
	digits, closed := strings.CutSuffix(digits, "}")
	_, err := strconv.ParseUint(digits, 10, 64)
	return opened && closed && err == nil
}
