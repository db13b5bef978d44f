package answertest

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Rules of the normal form: texts that differ between two runs of a test.
var (
	// The port of a test server.
	ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	// The random part of the name of a temporary folder.
	temporary = regexp.MustCompile(regexp.QuoteMeta(strings.TrimSuffix(os.TempDir(), "/")) + `/[\w.-]*\d[\w.-]*(/\d{3})?`)
	// A time, which is replaced if it is within a day of the run.
	times = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?UTC|Z)`)
	// The same in seconds or milliseconds since 1970.
	seconds = regexp.MustCompile(`\b\d{10}(\d{3})?\b`)
)

// normal returns a text without the ports, temporary folders and times of a run.
func normal(text string) string {
	text = ports.ReplaceAllString(text, "127.0.0.1:PORT")
	text = temporary.ReplaceAllString(text, "FOLDER")
	text = times.ReplaceAllStringFunc(text, func(text string) string {
		at, err := time.Parse(time.DateTime, strings.Replace(text[:len(time.DateTime)], "T", " ", 1))
		return ofRun(text, at, err)
	})
	return seconds.ReplaceAllStringFunc(text, func(text string) string {
		n, err := strconv.ParseInt(text[:10], 10, 64)
		return ofRun(text, time.Unix(n, 0), err)
	})
}

// ofRun returns "NOW" for a time within a day of now, and otherwise its text.
func ofRun(text string, at time.Time, err error) string {
	if err != nil || time.Since(at).Abs() > 24*time.Hour {
		return text
	}
	return "NOW"
}
