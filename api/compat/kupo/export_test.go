package kupo

import (
	"net/http"
	"slices"
	"strings"
)

// Operations returns the operations of the API: endpoints, without the arguments of their paths, and their methods.
func Operations() (all []string) {
	for _, e := range (&protocol{}).endpoints() {
		endpoint, _, _ := strings.Cut(e.Path, "/")
		operation := e.Method + " /" + endpoint
		if e.Method != http.MethodOptions && !strings.HasPrefix(e.Path, version1) && !slices.Contains(all, operation) {
			all = append(all, operation)
		}
	}
	return all
}
