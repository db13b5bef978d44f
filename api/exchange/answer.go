package exchange

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core/meter"
)

// Media types of answers.
const (
	TypeJSON   = "application/json"
	TypeText   = "text/plain"
	TypeBinary = "application/octet-stream"
)

// Contents that are sent as they are. A value that is an [http.Handler] answers by itself.
type (
	Text  string // as [TypeText]
	JSON  = jsonappend.JSON
	Bytes []byte // as [TypeBinary]
)

// Shared is JSON that other requests send, too. It is not copied, and what makes it counts its memory.
type Shared []byte

// Nothing is an answer without a body.
type Nothing struct{}

// Appended is an answer that its endpoint has appended: see [Request.Append].
type Appended struct{}

// Append appends a value to the answer, and sends it in parts if it is long. Endpoints return [Appended] afterwards.
func (r *Request) Append(v any) error {
	switch v := v.(type) {
	case Text:
		r.contentType, r.out.JSON = TypeText, append(r.out.JSON, v...)
	case Bytes:
		r.contentType, r.out.JSON = TypeBinary, append(r.out.JSON, v...)
	case Nothing:
		r.contentType, r.out.JSON = "", r.out.JSON[:0]
	case Shared:
		r.shared = v
	case Appended:
	case http.Handler:
		r.sent = true
		v.ServeHTTP(r.w, r.Request)
	default:
		return r.out.Append(v)
	}
	return r.out.hold()
}

// appendWhole appends the value of an answer, unless the meter has an error: a walk of the mempool that the client cannot
// pay for ends without another one.
func (r *Request) appendWhole(v any) error {
	if err := r.Append(v); err != nil || r.sent {
		return err
	}
	return meter.Of(r.Context()).Err()
}

// Encoder returns the encoder of the answer. Endpoints return [Appended] after they have used it.
func (r *Request) Encoder() *Encoder { return &r.out }

// send sends the answer so far, and empties it. The rest of a list follows.
func (r *Request) send() error {
	if !r.sent && r.out.endless {
		if err := ratelimit.Stream(r.w); err != nil {
			return err
		}
	}
	return cmp.Or(r.sendPart(), r.Context().Err())
}

// Flush sends the answer so far to the client. The rest follows.
func (r *Request) Flush() error {
	if err := r.sendPart(); err != nil {
		return err
	}
	if err := http.NewResponseController(r.w).Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (r *Request) sendPart() error {
	if !r.sent {
		r.sent = true
		r.setType()
		r.setStatus()
	}
	err := r.write(r.out.JSON)
	r.out.JSON = r.out.JSON[:0]
	return err
}

// write writes a part of the answer. The answer to HEAD has none.
func (r *Request) write(b []byte) error {
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := r.w.Write(b)
	return err
}

// finish sends the rest of the answer.
func (r *Request) finish() {
	body := r.out.JSON
	if r.shared != nil {
		body = r.shared
	}
	if !r.sent {
		r.setType()
		if r.status != http.StatusNoContent && r.status != http.StatusNotModified {
			r.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		}
		r.setStatus()
	} else if len(body) == 0 {
		return
	}
	_ = r.write(body) // fails only if the client is gone
}

// SetType sets the media type of the answer if it succeeds.
func (r *Request) SetType(mediaType string) { r.mediaType = mediaType }

func (r *Request) setType() {
	if r.mediaType != "" {
		r.contentType = r.mediaType
	}
	if r.contentType != "" {
		r.Header()["Content-Type"] = []string{r.contentType}
	}
}

// SetETag sets the ETag of an answer that an endpoint has made, and returns the answer to send: none with status 304 if
// the client has it.
func (r *Request) SetETag(etag string, answer any) any {
	if !r.hasAnswer(etag) {
		return answer
	}
	r.status = http.StatusNotModified
	return Nothing{}
}

// hasAnswer sets the ETag of the answer and reports whether the client has it. Kupo's ETags have no quotes; those of
// clients can have them.
func (r *Request) hasAnswer(etag string) bool {
	if etag == "" {
		return false
	}
	r.Header()["Etag"] = []string{etag}
	have := r.Request.Header["If-None-Match"]
	return len(have) > 0 && (served.MatchesETag(have, etag) || served.MatchesETag(have, `"`+etag+`"`))
}

// SetStatus sets the status of the answer if it succeeds. It is 200 otherwise.
func (r *Request) SetStatus(status int) { r.status = status }

func (r *Request) setStatus() {
	if r.status != 0 || r.Method == http.MethodHead {
		r.w.WriteHeader(cmp.Or(r.status, http.StatusOK))
	}
}

// Write answers with the failure.
func (f Failure) Write(w http.ResponseWriter) {
	if problem.Headers(w.Header(), f.Type); f.Type == "" {
		w.Header().Del("Content-Type")
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(f.Body) // fails only if the client is gone
}

// CacheFor lets caches keep the answer for a number of seconds.
func (r *Request) CacheFor(seconds int) {
	r.Header()["Cache-Control"] = []string{"public, max-age=" + strconv.Itoa(seconds)}
}
