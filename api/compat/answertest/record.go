package answertest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// recordings is the environment variable with the folder of recordings.
const recordings = "BIRTHMARK_RECORD"

// Recording has the requests and answers of a test.
type Recording struct {
	mu      sync.Mutex
	entries map[string]bool
}

// NewRecording returns a recording that is written to FOLDER/PACKAGE/TEST.txt after the test, sorted and without repetitions.
// Lines of requests begin with ">", those of answers with "<".
// FOLDER is the value of BIRTHMARK_RECORD; without it, nothing is recorded. Tests with random requests need BIRTHMARK_SEED.
// Recordings of two commits are compared with diff: see CONTRIBUTING.md.
func NewRecording(t testing.TB) *Recording {
	t.Helper()
	r := &Recording{entries: map[string]bool{}}
	folder := os.Getenv(recordings)
	if folder == "" {
		return nil
	}
	in, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, filepath.Base(in), strings.NewReplacer("/", "-", " ", "_").Replace(t.Name())+".txt")
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Error(err)
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) // a test can have several servers
		if err != nil {
			t.Error(err)
			return
		}
		for _, e := range slices.Sorted(maps.Keys(r.entries)) {
			fmt.Fprintf(f, "%s\n", e)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// Add records an exchange, in its normal form. It does nothing if r is nil.
func (r *Recording) Add(request, answer string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries[lines("> ", request)+lines("< ", answer)] = true
}

// lines returns the normal form of a text with a prefix of each line.
func lines(prefix, text string) string {
	return prefix + strings.ReplaceAll(normal(text), "\n", "\n"+prefix) + "\n"
}

// Recorded returns a handler that records the requests to h and its answers: status, headers, and body. Upgraded
// connections are not recorded. Requests without a meter get one.
func Recorded(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	h = metered(t, h)
	to := NewRecording(t)
	if to == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			h.ServeHTTP(w, r)
			return
		}
		line := r.Method + " " + r.URL.RequestURI() + headers(r.Header)
		var body bytes.Buffer
		r.Body = io.NopCloser(io.TeeReader(r.Body, &body))
		got := &recorder{ResponseWriter: w}
		h.ServeHTTP(got, r)
		request := fmt.Sprintf("%s\n%s", line, body.Bytes())
		if got.sent.Get("Content-Length") == strconv.Itoa(got.body.Len()) {
			got.sent.Set("Content-Length", "that of the body") // normal changes the length
		}
		to.Add(request, fmt.Sprintf("%d%s\n%s", max(got.status, http.StatusOK), headers(got.sent), got.body.Bytes()))
	})
}

// headers returns headers that clients can depend on, each after a newline.
func headers(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name != "Date" && name != "User-Agent" {
			fmt.Fprintf(&b, "\n%s: %s", name, strings.Join(h[name], ", "))
		}
	}
	return b.String()
}

// recorder keeps a copy of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	sent   http.Header
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	if r.status < http.StatusOK {
		r.status, r.sent = status, r.Header().Clone()
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status < http.StatusOK {
		r.status, r.sent = http.StatusOK, r.Header().Clone()
	}
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

// Unwrap returns the wrapped writer for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements [http.Flusher].
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }
