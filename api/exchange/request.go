package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"birthmark/api/problem"
)

// Request is a request and its answer. It is valid until the request ends.
type Request struct {
	*http.Request
	w       http.ResponseWriter
	args    []argument
	query   url.Values
	body    []byte
	invalid error
	mempool bool

	out         Encoder
	contentType string // empty: the answer has no body
	mediaType   string // of SetType; empty: contentType
	status      int    // 0: 200
	sent        bool   // a part of the answer was sent
	shared      []byte // the whole answer, in place of out
}

type argument struct{ name, value string }

var requests = sync.Pool{New: func() any {
	r := new(Request)
	r.out.Send = r.send
	return r
}}

// maxKeptBuffer is the capacity in bytes up to which the buffer of an answer is used again.
const maxKeptBuffer = 1 << 20

func (r *Request) begin(w http.ResponseWriter, hr *http.Request, json string) {
	r.out.Begin(hr.Context())
	*r = Request{Request: hr, w: w, args: r.args[:0], out: r.out, contentType: json}
}

func (r *Request) end() {
	if cap(r.out.JSON) <= maxKeptBuffer {
		r.out.Begin(context.Background())
		*r = Request{args: r.args[:0], out: r.out}
		requests.Put(r)
	}
}

// method returns the method of the endpoint: that of GET answers HEAD, too.
func (r *Request) method() string {
	if r.Method == http.MethodHead {
		return http.MethodGet
	}
	return r.Method
}

// Arg returns an argument of the path; ok is false if the path has none with the name.
func (r *Request) Arg(name string) (value string, ok bool) {
	for _, a := range r.args {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

// Param returns a parameter of the query; empty if it is absent.
func (r *Request) Param(name string) string { return r.Query().Get(name) }

// Query returns the parameters of the query.
func (r *Request) Query() url.Values {
	if r.query == nil && r.URL.RawQuery != "" {
		r.query = r.URL.Query()
	}
	return r.query
}

// Mempool reports whether the view has the unconfirmed transactions, too.
func (r *Request) Mempool() bool { return r.mempool }

// Content returns the body of a POST.
func (r *Request) Content() []byte { return r.body }

// Refuse ends the request with an error, before anything is read. The first error counts.
func (r *Request) Refuse(err error) {
	if r.invalid == nil {
		r.invalid = err
	}
}

// Refused returns the first error of Refuse, for endpoints with one step.
func (r *Request) Refused() error { return r.invalid }

// Header returns the headers of the answer.
func (r *Request) Header() http.Header { return r.w.Header() }

// Writer returns the writer of the answer, for functions that take it, such as those of [birthmark/api/ratelimit].
func (r *Request) Writer() http.ResponseWriter { return r.w }

const (
	// DefaultBody is the largest body of a request in bytes.
	DefaultBody = 1_000_000

	bodyTime = 30 * time.Second
)

// readBody reads the body. Its errors are problems, and [http.MaxBytesError].
func (r *Request) readBody(most int64) {
	tooLarge := &http.MaxBytesError{Limit: most}
	if r.ContentLength > most {
		r.Header().Set("Connection", "close") // the body is not read
		r.Refuse(tooLarge)
		return
	}
	control := http.NewResponseController(r.w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // writers of tests have no deadlines
	var err error
	r.body, err = io.ReadAll(io.LimitReader(r.Request.Body, most+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.Refuse(problem.New(http.StatusRequestTimeout, "timeout", "The request body took more than %d seconds", bodyTime/time.Second))
	case errors.As(err, &tooLarge): // a lower limit
		r.Refuse(tooLarge)
	case err != nil:
		r.Refuse(problem.New(http.StatusBadRequest, "bad_body", "The request body cannot be read: %s", err))
	case int64(len(r.body)) > most:
		r.Refuse(tooLarge)
	default:
		_ = control.SetReadDeadline(time.Time{})
	}
}
