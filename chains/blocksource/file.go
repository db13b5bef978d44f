package blocksource

import (
	"net/url"
	"strings"
)

// FilePath returns the path of a file:// URI, with or without localhost as its host, with special characters as %XX or
// verbatim. Empty if there is none.
func FilePath(rest string) string {
	if path, ok := strings.CutPrefix(rest, "localhost/"); ok {
		rest = "/" + path
	}
	if path, err := url.PathUnescape(rest); err == nil {
		return path
	}
	return rest
}
