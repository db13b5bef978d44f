package api

import (
	"mime"
	"strconv"
	"strings"

	"birthmark/api/docs"
)

const (
	jsonType   = docs.TypeJSON
	streamType = docs.TypeStream
)

// accepts negotiates the format of an answer (RFC 9110, section 12.5.1); ok is false if no format is acceptable. Only
// lists can be streams of newline-delimited JSON, and only if the client names that format.
func accepts(header []string, list bool) (stream, ok bool) {
	if len(header) == 0 || len(header) == 1 && (header[0] == "*/*" || header[0] == jsonType) {
		return false, true
	}
	weights := map[string]float64{} // by media range
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, given := parameters["q"]; given {
			if weight, err = strconv.ParseFloat(q, 64); err != nil || !(weight >= 0 && weight <= 1) {
				weight = 0
			}
		}
		weights[media] = max(weights[media], weight)
	}
	var asJSON float64
	for _, media := range []string{jsonType, "application/*", "*/*"} { // the most precise one counts
		if weight, given := weights[media]; given {
			asJSON = weight
			break
		}
	}
	if asStream := weights[streamType]; list && asStream > 0 && asStream >= asJSON {
		return true, true
	}
	return false, asJSON > 0
}
