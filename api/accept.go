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
	csvType    = docs.TypeCSV
)

// accepts negotiates the media type of an answer (RFC 9110, section 12.5.1); it is empty if none is acceptable. Only
// lists can be streams of newline-delimited JSON or CSV, and only if the client names that type.
func accepts(header []string, list bool) string {
	if len(header) == 0 || len(header) == 1 && (header[0] == "*/*" || header[0] == jsonType) {
		return jsonType
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
	media, best := jsonType, asJSON
	for _, of := range []string{csvType, streamType} {
		if w := weights[of]; list && w > 0 && w >= best {
			media, best = of, w
		}
	}
	if best == 0 {
		return ""
	}
	return media
}
