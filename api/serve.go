package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/core/query"
)

// maxBody is the largest body of a request in bytes: a thousand values of an index have less.
const maxBody = 1 << 20

// failure is an error as clients get it.
func failure(r *exchange.Request, err error) exchange.Failure {
	p := problem.Of(err)
	if h := r.Header(); p.Status == http.StatusServiceUnavailable && h["Retry-After"] == nil {
		h.Set("Retry-After", "1")
	}
	return exchange.Failure{Status: p.Status, Type: problem.ContentType, Body: jsonappend.Append(nil, &document{p})}
}

// document is an answer, or an entry of a list, as a line. The command line prints the same bytes.
type document struct{ answer any }

// AppendJSON implements [jsonappend.Value].
func (d *document) AppendJSON(b []byte) []byte {
	if text, ok := d.answer.(encoded); ok {
		return append(b, text...)
	}
	return append(jsonappend.Append(b, d.answer), '\n')
}

// encoded is a document as it is sent.
type encoded []byte

// serve answers a request for an operation of a chain. It refuses invalid arguments before it reads anything.
func (a *API) serve(r *exchange.Request, c *chain, op *operation) (any, error) {
	q := &request{r: r, chain: c, op: op, mempool: op.pending}
	for _, arg := range op.args {
		q.args = append(q.args, r.PathValue(arg))
	}
	if err := q.parse(r.URL.RawQuery); err != nil {
		return nil, err
	}
	media := accepts(r.Request.Header["Accept"], op.entries != nil)
	if media == "" {
		return nil, notAcceptable(op)
	}
	if op.node != nil {
		return q.askNode()
	}
	if op.body != nil {
		if err := q.readBody(); err != nil {
			return nil, err
		}
	}
	if op.entries != nil {
		r.Header().Add("Vary", "Accept")
	}
	switch media {
	case streamType:
		return a.stream(q, &jsonLines{q})
	case csvType:
		return a.stream(q, &csvLines{request: q})
	}
	res, err := answerTo(r.Context(), q)
	res.tip.write(r.Header())
	if err != nil {
		return nil, err
	}
	return res.send(r), nil
}

// A reader returns the answer to a request.
type reader func(context.Context, *request) (result, error)

// answerTo returns the answer to a request: nothing if the client has it, or the answer in the cache, or the one that an
// equal request is reading. Otherwise it reads the answer.
var answerTo = unlessKnown(cached(once))

// result is an answer. Several requests may send its text, which is immutable.
type result struct {
	tip   *tipHeaders // nil: before the first block
	etag  string      // empty: none
	text  []byte
	own   bool // the text is in the buffer of the request
	final bool // the answer can no longer change
	fixed bool // the tip and the indexes determine the answer
}

// send sets the headers of an answer and returns the answer to send.
func (res *result) send(r *exchange.Request) any {
	r.Header()["Cache-Control"] = noCache
	if res.final {
		r.Header()["Cache-Control"] = immutable
	}
	var text any = exchange.Shared(res.text)
	if res.own {
		text = exchange.Appended{}
	}
	return r.SetETag(res.etag, text)
}

var (
	noCache   = []string{"no-cache"}
	immutable = []string{"public, max-age=31536000, immutable"}
)

// sendTagged sends an answer that no tip determines.
func sendTagged(r *exchange.Request, answer any) (any, error) {
	err := r.Append(&document{answer})
	res := result{own: true, etag: tagOf(nil, r.Encoder().JSON)}
	return res.send(r), err
}

// read reads the answer at one tip and appends it to e. It fails with [query.ErrTooManyRows] after the given number of rows;
// 0: no limit. The result has the tip also on errors.
func (q *request) read(ctx context.Context, rows int, e *exchange.Encoder) (res result, err error) {
	tip, moved := q.chain.Moved()
	look := func(v *query.View) error {
		indexes, err := q.chain.indexes.of(ctx, v)
		if err != nil {
			return err
		}
		at := moved
		if _, now := q.chain.Moved(); now != moved || v.Tip != tip {
			at = nil // the view can be of another tip, or of other indexes, than the channel
		}
		res.tip = q.chain.headers(v.Tip, indexes, at)
		v.AtMost(rows)
		v.Queries = v.WithGap(q.gap)
		answer, err := q.op.ask(ctx, v, q)
		if err != nil {
			return err
		}
		err = e.Append(&document{answer})
		if res.text = e.JSON; err == nil && q.cacheAs != "" {
			q.chain.blocks.Put(q.cacheAs, cachedAnswer{q.cacheAs, result{text: bytes.Clone(res.text)}, nil})
		}
		return err
	}
	if err = q.view(ctx, look); errors.Is(err, errLookAgain) {
		err = q.view(ctx, look)
	}
	res.final, res.fixed = q.final, q.fixed() && res.tip != nil
	switch {
	case err != nil:
	case q.volatile():
		res.etag = tagOf(res.tip, res.text)
	case q.final: // does not change with the tip
		res.etag = `"` + shortHash(res.text) + `"`
	case res.fixed:
		res.etag = res.tip.etag
	}
	return res, err
}

func notAcceptable(op *operation) error {
	has := jsonType
	if op.entries != nil {
		has += ", " + streamType + " or " + csvType
	}
	return problem.New(http.StatusNotAcceptable, "not_acceptable", "Accept: %s returns %s", op.Path, has)
}

// readBody parses the JSON document of a request.
func (q *request) readBody() error {
	kind := q.r.Request.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); err != nil || media != jsonType {
		return problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "Content-Type %q: expected %s", kind, jsonType)
	}
	q.body = q.op.body()
	d := json.NewDecoder(bytes.NewReader(q.r.Content()))
	d.DisallowUnknownFields()
	err := d.Decode(q.body)
	if err == nil {
		switch _, err = d.Token(); err {
		case io.EOF:
			return nil
		case nil:
			return problem.New(http.StatusBadRequest, "bad_body", "body: more than one JSON document")
		}
	}
	return problem.New(http.StatusBadRequest, "bad_body", "body: expected a JSON document such as %s: %s",
		q.op.Example.Body, strings.TrimPrefix(err.Error(), "json: "))
}
