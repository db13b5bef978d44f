package exchange

import (
	"iter"
	"net/http"
	"slices"
	"strconv"

	"birthmark/api/jsonappend"
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

// Contents that are sent as they are.
type (
	Text  string // as [TypeText]
	JSON  []byte // as [Protocol.JSON]
	Bytes []byte // as [TypeBinary]
)

// Nothing is an answer without a body.
type Nothing struct{}

// List is a JSON array whose elements are read and sent one by one.
func List[T any](elements iter.Seq2[T, error]) any { return listOf(elements, false) }

// Stream is a [List] without a bound on its elements. If it is long, it counts as an open stream and has no time limit:
// see [ratelimit.Stream].
func Stream[T any](elements iter.Seq2[T, error]) any { return listOf(elements, true) }

// Items is a [Stream] that is a member of a value: its elements are read and sent after the members before it.
type Items[T any] struct {
	r        *Request
	elements list
}

// ItemsOf returns the elements for a member of the answer to r.
func ItemsOf[T any](r *Request, elements iter.Seq2[T, error]) Items[T] {
	return Items[T]{r, listOf(elements, true)}
}

// AppendJSON marks the place of the list: see [Request.append].
func (i *Items[T]) AppendJSON(b []byte) []byte {
	i.r.items = append(i.r.items, place{len(b), i.elements})
	return b
}

// place is the place of a list in the bytes of a value.
type place struct {
	at       int
	elements list
}

func listOf[T any](elements iter.Seq2[T, error], endless bool) list {
	return list(func(r *Request) error {
		r.endless = r.endless || endless
		r.out = append(r.out, '[')
		separator := ""
		for v, err := range elements {
			if err != nil {
				return err
			}
			r.out = append(r.out, separator...)
			if err := r.append(&v); err != nil {
				return err
			}
			separator = ","
			if err := r.flush(); err != nil {
				return err
			}
		}
		r.out = append(r.out, ']')
		return nil
	})
}

type list func(*Request) error

// write appends the value of an answer, and sends it in parts if it is long.
func (r *Request) write(v any) error {
	switch v := v.(type) {
	case Text:
		r.contentType, r.out = TypeText, append(r.out, v...)
	case JSON:
		r.out = append(r.out, v...)
	case Bytes:
		r.contentType, r.out = TypeBinary, append(r.out, v...)
	case Nothing:
		r.contentType = ""
	case list:
		return v(r)
	default:
		return r.append(v)
	}
	return nil
}

// append appends a value, and sends it in parts if it has long lists of type [Items].
func (r *Request) append(v any) error {
	r.out = jsonappend.Append(r.out, v)
	if len(r.items) == 0 {
		return r.hold()
	}
	items := r.items
	r.items = nil // elements have their own
	from := items[0].at
	rest := slices.Clone(r.out[from:])
	r.out = r.out[:from]
	for i, list := range items {
		if err := list.elements(r); err != nil {
			return err
		}
		end := len(rest)
		if i+1 < len(items) {
			end = items[i+1].at - from
		}
		r.out = append(r.out, rest[list.at-from:end]...)
	}
	return nil
}

// hold takes the bytes of an answer that is not sent in parts from the memory for answers.
func (r *Request) hold() error {
	more := len(r.out) - meter.Free - r.held
	if more <= 0 {
		return nil
	}
	r.held += more
	return meter.Of(r.Context()).Hold(int64(more))
}

// partSize is the size in bytes of the parts in which long answers are sent.
const partSize = 64 << 10

// flush sends the answer so far if it is long. The rest of a list follows.
func (r *Request) flush() error {
	if len(r.out) < partSize {
		return nil
	}
	if !r.sent && r.endless {
		if err := ratelimit.Stream(r.w); err != nil {
			return err
		}
	}
	if !r.sent {
		r.sent = true
		r.setType()
		r.setStatus()
	}
	_, err := r.w.Write(r.out)
	r.out = r.out[:0]
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
			r.Header()["Content-Length"] = []string{strconv.Itoa(len(r.out))}
		}
		r.setStatus()
	}
	_, _ = r.w.Write(r.out) // fails only if the client is gone
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
