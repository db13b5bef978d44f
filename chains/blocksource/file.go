package blocksource

import (
	"net/url"
	"strings"
)

// FilePath is the path behind the file:// of a URI: with or without localhost as its host, special characters as %XX or
// as they are. Empty where there is none.
func FilePath(rest string) string {
	if path, ok := strings.CutPrefix(rest, "localhost/"); ok {
		rest = "/" + path
	}
	if path, err := url.PathUnescape(rest); err == nil {
		return path
	}
	return rest
}
