package compress

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minSize is the size of the smallest body in bytes that is compressed: smaller ones fit into one packet anyway.
const minSize = 1024

// Handler compresses the answers of next that have status 200, a textual media type and at least 1,024 bytes, with zstd
// or gzip as the client accepts. Streams are compressed piece by piece, except server-sent events, which would hold an
// encoder per client. If the client accepts a coding, ETags are weak (RFC 9110, section 8.8.3): a validator of the
// bytes would be wrong for one of the representations.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := writer{ResponseWriter: rw, coding: negotiate(r.Header["Accept-Encoding"]), head: r.Method == http.MethodHead}
		next.ServeHTTP(&w, r)
		w.close() // not after a panic: the client must not take a part for the whole answer
	})
}

// coding is a content coding (RFC 9110, section 8.4.1). Its encoders are pooled.
type coding struct {
	name string
	pool sync.Pool
}

type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// The window of zstd bounds the memory of encoders and of clients. Higher levels take longer, and lists with hashes do
// not get smaller: see bench/RESULTS.md.
var (
	zstdCoding = &coding{name: "zstd", pool: sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(512<<10), zstd.WithLowerEncoderMem(true))
		if err != nil { // the options are constant
			panic(err)
		}
		return encoder(e)
	}}}
	gzipCoding = &coding{name: "gzip", pool: sync.Pool{New: func() any {
		e, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic(err)
		}
		return encoder(e)
	}}}
)

// writer decides at the first byte of an answer whether to compress it.
type writer struct {
	http.ResponseWriter
	coding  *coding // accepted by the client; nil: none
	head    bool    // the method is HEAD
	pending bool    // WriteHeader was called with status 200, which is not sent yet
	begun   bool    // the header is sent, or is complete
	encoder encoder // of a stream; nil: the body is not compressed, or not in pieces
}

// WriteHeader implements [http.ResponseWriter]. Status 200 is sent with the first byte.
func (w *writer) WriteHeader(status int) {
	if status == http.StatusOK && !w.begun {
		w.pending = true
		return
	}
	if status == http.StatusNotModified {
		w.negotiated(w.Header())
	}
	w.begun = w.begun || status >= http.StatusOK // others are informational
	w.ResponseWriter.WriteHeader(status)
}

// negotiated sets the headers of an answer that depends on Accept-Encoding.
func (w *writer) negotiated(h http.Header) {
	h.Add("Vary", "Accept-Encoding")
	if tag := h["Etag"]; w.coding != nil && len(tag) == 1 && !strings.HasPrefix(tag[0], "W/") {
		h["Etag"] = []string{"W/" + tag[0]}
	}
}

// begin completes the header of an answer with status 200. It returns the body to send for the first piece.
func (w *writer) begin(first []byte) *bytes.Buffer {
	w.begun = true
	if w.pending {
		defer w.ResponseWriter.WriteHeader(http.StatusOK)
	}
	h := w.Header()
	if h["Content-Encoding"] != nil || !compressible(h.Get("Content-Type")) {
		return nil
	}
	w.negotiated(h)
	size, length := len(first), h.Get("Content-Length")
	if length != "" {
		size, _ = strconv.Atoi(length)
	}
	if w.coding == nil || size < minSize {
		return nil
	}
	h["Content-Encoding"] = []string{w.coding.name}
	delete(h, "Content-Length")
	delete(h, "Accept-Ranges")
	if w.head {
		return nil
	}
	e := w.coding.pool.Get().(encoder)
	if length == "" || size != len(first) {
		e.Reset(w.ResponseWriter)
		w.encoder = e
		return nil
	}
	b := bodies.Get().(*bytes.Buffer)
	b.Reset()
	e.Reset(b)
	_, _ = e.Write(first) // a buffer does not fail
	_ = e.Close()
	w.coding.pool.Put(e) // before the client reads
	h["Content-Length"] = []string{strconv.Itoa(b.Len())}
	return b
}

// bodies are buffers for compressed bodies.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write implements [http.ResponseWriter].
func (w *writer) Write(b []byte) (int, error) {
	if !w.begun {
		if all := w.begin(b); all != nil {
			_, err := w.ResponseWriter.Write(all.Bytes())
			bodies.Put(all)
			return len(b), err
		}
	}
	if w.encoder != nil {
		return w.encoder.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// FlushError flushes the answer; [http.ResponseController] calls it.
func (w *writer) FlushError() error {
	if !w.begun {
		w.begin(nil)
	}
	if w.encoder != nil {
		if err := w.encoder.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush implements [http.Flusher].
func (w *writer) Flush() { _ = w.FlushError() } // the next write returns the error too

// Unwrap returns the wrapped writer for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// close ends the answer.
func (w *writer) close() {
	if !w.begun { // no body
		w.begin(nil)
	}
	if w.encoder != nil {
		_ = w.encoder.Close() // fails only if the client is gone
		w.coding.pool.Put(w.encoder)
	}
}

// compressible reports whether bodies of a media type are textual. Server-sent events are not, see [Handler].
func compressible(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	switch media = strings.TrimSpace(media); media {
	case "text/event-stream":
		return false
	case "application/json", "application/x-ndjson", "application/yaml", "application/javascript", "image/svg+xml",
		"application/xml":
		return true
	}
	return strings.HasPrefix(media, "text/")
}

// negotiate returns the coding of an answer (RFC 9110, section 12.5.3): the one that the client prefers, zstd before
// gzip if it prefers none of them; nil for none.
func negotiate(header []string) *coding {
	zstd, gzip, other := -1.0, -1.0, 0.0 // weights; negative: not named
	for _, line := range header {
		for part := range strings.SplitSeq(line, ",") {
			name, parameter, _ := strings.Cut(part, ";")
			weight := weightOf(parameter)
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "zstd"):
				zstd = weight
			case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
				gzip = weight
			case name == "*":
				other = weight
			}
		}
	}
	if zstd < 0 {
		zstd = other
	}
	if gzip < 0 {
		gzip = other
	}
	switch {
	case zstd > 0 && zstd >= gzip:
		return zstdCoding
	case gzip > 0:
		return gzipCoding
	}
	return nil
}

// weightOf reads the parameter q of a coding; 0 if it is invalid, 1 if it is absent.
func weightOf(parameter string) float64 {
	name, value, given := strings.Cut(strings.TrimSpace(parameter), "=")
	if !given {
		return 1
	}
	weight, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.EqualFold(name, "q") || !(weight >= 0 && weight <= 1) {
		return 0
	}
	return weight
}
