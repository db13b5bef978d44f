package exchange

import (
	"net/http"
	"strconv"

	"birthmark/api/jsonappend"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
)

// Media types of answers.
const (
	TypeJSON   = "application/json"
	TypeText   = "text/plain"
	TypeBinary = "application/octet-stream"
)

// Contents that are sent as they are.
type (
	Text  string // as [TypeText]
	JSON  = jsonappend.JSON
	Bytes []byte // as [TypeBinary]
)

// Nothing is an answer without a body.
type Nothing struct{}

// write appends the value of an answer, and sends it in parts if it is long.
func (r *Request) write(v any) error {
	switch v := v.(type) {
	case Text:
		r.contentType, r.out.JSON = TypeText, append(r.out.JSON, v...)
	case Bytes:
		r.contentType, r.out.JSON = TypeBinary, append(r.out.JSON, v...)
	case Nothing:
		r.contentType = ""
	default:
		return r.out.Append(v)
	}
	return nil
}

// send sends the answer so far, and empties it. The rest of a list follows.
func (r *Request) send() error {
	if !r.sent && r.out.endless {
		if err := ratelimit.Stream(r.w); err != nil {
			return err
		}
	}
	if !r.sent {
		r.sent = true
		r.setType()
		r.setStatus()
	}
	_, err := r.w.Write(r.out.JSON)
	r.out.JSON = r.out.JSON[:0]
	if err == nil {
		err = r.Context().Err()
	}
	return err
}

// finish sends the rest of the answer.
func (r *Request) finish() {
	if !r.sent {
		r.setType()
		if r.status != http.StatusNoContent && r.status != http.StatusNotModified {
			r.Header()["Content-Length"] = []string{strconv.Itoa(len(r.out.JSON))}
		}
		r.setStatus()
	}
	_, _ = r.w.Write(r.out.JSON) // fails only if the client is gone
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

// hasAnswer sets the ETag of the answer and reports whether the client has it. Kupo's ETags have no quotes; those of
// clients can have them.
func (r *Request) hasAnswer(etag string) bool {
	if etag == "" {
		return false
	}
	r.Header()["Etag"] = []string{etag}
	have := r.Request.Header["If-None-Match"]
	return served.MatchesETag(have, etag) || served.MatchesETag(have, `"`+etag+`"`)
}

// SetStatus sets the status of the answer if it succeeds. It is 200 otherwise.
func (r *Request) SetStatus(status int) { r.status = status }

func (r *Request) setStatus() {
	if r.status != 0 {
		r.w.WriteHeader(r.status)
	}
}

func (r *Request) fail(f Failure) {
	h := r.Header()
	if f.Type != "" {
		h["Content-Type"] = []string{f.Type}
	}
	h["Cache-Control"] = []string{"no-store"}
	r.w.WriteHeader(f.Status)
	_, _ = r.w.Write(f.Body) // fails only if the client is gone
}

// CacheFor lets caches keep the answer for a number of seconds.
func (r *Request) CacheFor(seconds int) {
	r.Header()["Cache-Control"] = []string{"public, max-age=" + strconv.Itoa(seconds)}
}
