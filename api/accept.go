package api

import (
	"strconv"
	"strings"
)

const (
	jsonType   = "application/json"
	streamType = "application/x-ndjson"
)

// accepts negotiates the format of an answer (RFC 9110, section 12.5.1); ok is false if no format is acceptable. Only
// lists can be streams of newline-delimited JSON, and only if the client names that format.
func accepts(header []string, list bool) (stream, ok bool) {
	if len(header) == 0 {
		return false, true
	}
	if len(header) == 1 && (header[0] == "*/*" || header[0] == jsonType) {
		return false, true
	}
	type best struct {
		q       float64
		precise int // 3: named, 2: application/*, 1: */*
	}
	var asJSON, asStream best
	take := func(b *best, q float64, precise int) {
		if precise > b.precise || precise == b.precise && q > b.q {
			*b = best{q, precise}
		}
	}
	for _, line := range header {
		for part := range strings.SplitSeq(line, ",") {
			media, parameters, _ := strings.Cut(part, ";")
			q := 1.0
			for p := range strings.SplitSeq(parameters, ";") {
				name, value, _ := strings.Cut(p, "=")
				if strings.EqualFold(strings.TrimSpace(name), "q") {
					n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
					if err != nil || !(n >= 0 && n <= 1) {
						n = 0
					}
					q = n
				}
			}
			switch strings.ToLower(strings.TrimSpace(media)) {
			case jsonType:
				take(&asJSON, q, 3)
			case streamType:
				take(&asStream, q, 3)
			case "application/*":
				take(&asJSON, q, 2)
			case "*/*":
				take(&asJSON, q, 1)
			}
		}
	}
	if list && asStream.q > 0 && asStream.q >= asJSON.q {
		return true, true
	}
	return false, asJSON.q > 0
}
