package ergoexplorer

import (
	"regexp"
	"strings"
)

var argument = regexp.MustCompile(`\{\w+\}`)

// Operations returns the method and the path of all endpoints, with * in place of arguments.
func Operations() (all []string) {
	for _, e := range new(protocol).endpoints() {
		all = append(all, e.Method+" "+argument.ReplaceAllString(strings.TrimPrefix(e.Path, "api/"), "*"))
	}
	return all
}
