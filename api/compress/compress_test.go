package compress

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"birthmark/internal/testseed"
)

// decoded returns a body without its content coding.
func decoded(t *testing.T, coding string, body io.Reader) io.Reader {
	t.Helper()
	var err error
	switch coding {
	case "gzip":
		body, err = gzip.NewReader(body)
	case "zstd":
		body, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1))
	case "":
	default:
		t.Fatalf("content coding %q", coding)
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// fetch sends a request without decompressing the response, which the default client would do.
func fetch(t *testing.T, method, url, accept string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept-Encoding", accept)
	}
	answer, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// A client decodes the body that a handler writes, whatever its size and in whatever pieces.
func TestClientsDecodeEveryAnswer(t *testing.T) {
	rng := testseed.Rand(t)
	var body []byte
	var pieces []int
	var sized, explicit, flushed bool
	s := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Etag", `"x"`)
		if sized {
			h.Set("Content-Length", strconv.Itoa(len(body)))
		}
		if explicit {
			w.WriteHeader(http.StatusOK)
		}
		if r.Method == http.MethodHead {
			return
		}
		from := 0
		for _, n := range pieces {
			if k, err := w.Write(body[from : from+n]); k != n || err != nil {
				t.Errorf("%d of %d bytes: %v", k, n, err)
			}
			from += n
			if flushed {
				_ = http.NewResponseController(w).Flush()
			}
		}
	})))
	defer s.Close()
	for range 300 {
		body = []byte(strings.Repeat("\"birthmark\",", rng.IntN(400)))
		sized, explicit, flushed, pieces = rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0, nil
		for left := len(body); left > 0; {
			n := left
			if rng.IntN(2) == 0 {
				n = 1 + rng.IntN(left)
			}
			pieces, left = append(pieces, n), left-n
		}
		for accept, want := range map[string]string{"": "", "gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd"} {
			answer := fetch(t, "GET", s.URL, accept)
			coding := answer.Header.Get("Content-Encoding")
			got, err := io.ReadAll(decoded(t, coding, answer.Body))
			if err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%d bytes in %v, sized %t: %d bytes with coding %q: %v", len(body), pieces, sized, len(got), coding, err)
			}
			if sized && len(body) >= minSize && coding != want || len(body) < minSize && coding != "" {
				t.Errorf("%d bytes, Accept-Encoding %q: coding %q", len(body), accept, coding)
			}
			etag := `"x"`
			if want != "" {
				etag = `W/"x"`
			}
			if answer.Header.Get("Etag") != etag || answer.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("Accept-Encoding %q: %v, expected the ETag %s", accept, answer.Header, etag)
			}
			head := fetch(t, "HEAD", s.URL, accept)
			if n := head.Header.Get("Content-Length"); head.Header.Get("Etag") != etag || sized && head.Header.Get("Content-Encoding") != coding ||
				coding != "" && n != "" && n != answer.Header.Get("Content-Length") {
				t.Errorf("HEAD: %v, GET: %v", head.Header, answer.Header)
			}
		}
	}
}

// A client receives each piece of a stream when it is flushed, and notices a stream that was cut.
func TestStreamsArriveInPieces(t *testing.T) {
	next := make(chan struct{})
	line := strings.Repeat("x", minSize) + "\n"
	s := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for range 3 {
			_, _ = io.WriteString(w, line)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
		panic(http.ErrAbortHandler)
	})))
	defer s.Close()
	for _, coding := range []string{"gzip", "zstd"} {
		answer := fetch(t, "GET", s.URL, coding)
		body := decoded(t, answer.Header.Get("Content-Encoding"), answer.Body)
		if answer.Header.Get("Content-Encoding") != coding {
			t.Fatalf("coding %q", answer.Header.Get("Content-Encoding"))
		}
		for range 3 {
			got := make([]byte, len(line))
			if _, err := io.ReadFull(body, got); err != nil || string(got) != line {
				t.Fatalf("%s: %q: %v", coding, got, err)
			}
			next <- struct{}{}
		}
		if _, err := io.ReadAll(body); err == nil {
			t.Errorf("%s: the broken stream ended without an error", coding)
		}
	}
}

// Answers that are not documents pass unchanged.
func TestOtherAnswersAreNotCompressed(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 4*minSize)
	for _, c := range []struct {
		contentType, coding string
		status              int
	}{
		{"text/event-stream", "", 200}, {"image/png", "", 200}, {"application/octet-stream", "", 200}, {"", "", 200},
		{"text/plain", "br", 200}, {"application/problem+json", "", 404}, {"text/html", "", 206}, {"text/html", "", 500},
	} {
		s := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h["Content-Type"] = []string{c.contentType}
			if c.coding != "" {
				h.Set("Content-Encoding", c.coding)
			}
			w.WriteHeader(c.status)
			_, _ = w.Write(body)
		})))
		answer := fetch(t, "GET", s.URL, "gzip, zstd")
		got, err := io.ReadAll(answer.Body)
		if err != nil || !bytes.Equal(got, body) || answer.StatusCode != c.status || answer.Header.Get("Content-Encoding") != c.coding {
			t.Errorf("%+v: %d, %v, %d bytes: %v", c, answer.StatusCode, answer.Header, len(got), err)
		}
		s.Close()
	}
}

// A 304 response has the same ETag as the response with a body.
func TestAnAnswerThatDidNotChangeHasTheSameETag(t *testing.T) {
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"x"`)
		w.WriteHeader(http.StatusNotModified)
	}))
	for accept, etag := range map[string]string{"": `"x"`, "gzip": `W/"x"`} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		h.ServeHTTP(w, r)
		if w.Code != 304 || w.Header().Get("Etag") != etag || w.Header().Get("Vary") != "Accept-Encoding" || w.Body.Len() > 0 {
			t.Errorf("Accept-Encoding %q: %d %v", accept, w.Code, w.Header())
		}
	}
}

func TestNegotiation(t *testing.T) {
	for accept, want := range map[string]*coding{
		"": nil, "identity": nil, "br, deflate": nil, "gzip, deflate, br, zstd": zstdCoding, "gzip": gzipCoding, "GZIP": gzipCoding,
		"x-gzip": gzipCoding, "*": zstdCoding, "*;q=0": nil, "gzip;q=0": nil, "gzip;q=0.5, zstd;q=0.4": gzipCoding, "zstd;q=0, *": gzipCoding,
		"gzip; q=1.0, *;q=0": gzipCoding, "gzip;q=2": nil, "gzip;q=x": nil, "gzip;q=NaN": nil, ";;;,,": nil, "gzip ;q=0.001": gzipCoding,
	} {
		if got := negotiate([]string{accept}); got != want {
			t.Errorf("Accept-Encoding %q: %v, expected %v", accept, got, want)
		}
	}
}

// BenchmarkAnswers measures an answer and its compression.
func BenchmarkAnswers(b *testing.B) {
	document, err := os.ReadFile("../../docs/openapi.yaml")
	if err != nil {
		b.Fatal(err)
	}
	bodies := map[string][]byte{"document": document, "balance": []byte(strings.Repeat("x", 300))}
	for _, n := range []int{25, 1000} {
		var list bytes.Buffer
		for i := range n {
			fmt.Fprintf(&list, `{"hash":"%x","height":%d,"index":%d,"received":"%d","sent":"0","time":%d,"balance":"%d"},`,
				sha256.Sum256([]byte{byte(i), byte(i >> 8)}), 800000+i, i%2000, i*7919, 1700000000+600*i, i*999983)
		}
		bodies[fmt.Sprintf("history of %d", n)] = list.Bytes()
	}
	for name, body := range bodies {
		for _, accept := range []string{"identity", "gzip", "zstd"} {
			b.Run(name+"/"+accept, func(b *testing.B) {
				b.ReportAllocs()
				sent := 0
				h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header()["Content-Type"] = []string{"application/json"}
					w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
					_, _ = w.Write(body)
				}))
				r := httptest.NewRequest("GET", "/", nil)
				r.Header.Set("Accept-Encoding", accept)
				for b.Loop() {
					w := counter{header: http.Header{}}
					h.ServeHTTP(&w, r)
					sent = w.bytes
				}
				b.ReportMetric(float64(len(body)), "bytes/before")
				b.ReportMetric(float64(sent), "bytes/after")
			})
		}
	}
}

// counter is a response writer that counts bytes.
type counter struct {
	header http.Header
	bytes  int
}

func (w *counter) Header() http.Header         { return w.header }
func (w *counter) Write(b []byte) (int, error) { w.bytes += len(b); return len(b), nil }
func (w *counter) WriteHeader(int)             {}
