package served

import "strings"

// MatchesETag compares an ETag with those of If-None-Match (RFC 9110, section 13.1.2: weak comparison). "*" does not
// match: it is not known whether an answer exists before it is read.
func MatchesETag(header []string, etag string) bool {
	for _, line := range header {
		for line != "" {
			var tag string
			tag, line, _ = strings.Cut(line, ",")
			tag = strings.TrimSpace(tag)
			if strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
				return true
			}
		}
	}
	return false
}
