package api

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"birthmark/api/problem"
	"birthmark/core"
	"birthmark/model"
)

// buffers are what answers are written to before they are sent.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept for another answer.
const maxPooled = 1 << 20

func release(b *bytes.Buffer) {
	if b.Cap() <= maxPooled {
		b.Reset()
		buffers.Put(b)
	}
}

// encode writes a document as the command line does: the same bytes.
func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// serve answers a question.
func (a *API) serve(w http.ResponseWriter, r *http.Request, q *request) {
	if err := q.parse(r.URL.RawQuery); err != nil {
		a.fail(w, r, err)
		return
	}
	stream, ok := accepts(r.Header["Accept"], q.op.entries != nil)
	if !ok {
		a.fail(w, r, notAcceptable(q.op))
		return
	}
	if q.op.body != nil {
		if err := q.readBody(w, r); err != nil {
			a.fail(w, r, err)
			return
		}
	}
	if q.op.entries != nil {
		w.Header()["Vary"] = []string{"Accept"}
	}
	if stream {
		a.stream(w, r, q)
		return
	}
	b := buffers.Get().(*bytes.Buffer)
	defer release(b)
	same := false
	err := q.chain.View(r.Context(), func(v *core.View) error {
		h := w.Header()
		tip := q.chain.nameTip(h, v.Tip)
		if tip != "" && q.op.body == nil && !q.op.volatile {
			mark, err := q.chain.mark.of(r.Context(), v)
			if err != nil {
				return err
			}
			etag := `W/"` + tip + mark + `"`
			h["Etag"] = []string{etag}
			if same = matches(r.Header["If-None-Match"], etag); same {
				return nil
			}
		}
		answer, err := q.op.ask(r.Context(), v, q)
		if err != nil {
			return err
		}
		return encode(b, answer)
	})
	if err != nil {
		a.fail(w, r, err)
		return
	}
	if q.op.volatile {
		same = tagBody(w, r, b.Bytes())
	}
	send(w, r, b.Bytes(), same)
}

// nameTip says in the headers at which tip an answer is made. It is empty before the first block.
func (c *chain) nameTip(h http.Header, p model.Point) string {
	if p.IsOrigin() {
		return ""
	}
	tip := c.Model.FormatHash(p.Hash)
	h["X-Tip"] = []string{tip}
	h["X-Tip-Height"] = []string{strconv.FormatUint(uint64(p.Height), 10)}
	return tip
}

// tagBody gives an answer that depends on more than the tip an ETag of its own bytes.
func tagBody(w http.ResponseWriter, r *http.Request, body []byte) (same bool) {
	etag := `W/"` + shortHash(body) + `"`
	w.Header()["Etag"] = []string{etag}
	return matches(r.Header["If-None-Match"], etag)
}

var (
	jsonTypes = []string{jsonType}
	noCache   = []string{"no-cache"}
)

// send answers with a document, or says that the client has it.
func send(w http.ResponseWriter, r *http.Request, body []byte, same bool) {
	h := w.Header()
	h["Cache-Control"] = noCache
	if same {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if h["Content-Type"] == nil {
		h["Content-Type"] = jsonTypes
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if r.Method != http.MethodHead {
		// A client that is gone is told nothing.
		_, _ = w.Write(body)
	}
}

// matches reports whether the client has what an ETag stands for (RFC 9110, section 13.1.2: weakly compared).
func matches(header []string, etag string) bool {
	for _, line := range header {
		for line != "" {
			var tag string
			tag, line, _ = strings.Cut(line, ",")
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
				return true
			}
		}
	}
	return false
}

func notAcceptable(op *operation) error {
	has := jsonType
	if op.entries != nil {
		has += " and " + streamType
	}
	return problem.New(http.StatusNotAcceptable, "not_acceptable", "Accept: %s is answered as %s", op.pattern, has)
}

// maxBody is the most bytes of a request's body: a thousand of the longest values of most indexes.
const maxBody = 1 << 20

// readBody reads the JSON document of a request.
func (q *request) readBody(w http.ResponseWriter, r *http.Request) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != jsonType {
		return problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "Content-Type %q: expected %s", r.Header.Get("Content-Type"), jsonType)
	}
	q.body = q.op.body()
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(q.body)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		if err == nil {
			err = problem.New(http.StatusBadRequest, "bad_body", "body: more than one JSON document")
		}
	}
	if p := problem.Of(err); p.Status == http.StatusRequestEntityTooLarge || p.Code == "bad_body" {
		return p
	}
	return problem.New(http.StatusBadRequest, "bad_body", "body: expected a JSON document such as %s: %s", q.op.example.body, strings.TrimPrefix(err.Error(), "json: "))
}
