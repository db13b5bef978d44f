package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core/query"
)

// serve answers a request for an operation.
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
		w.Header().Add("Vary", "Accept")
	}
	if stream && q.mempool {
		a.fail(w, r, problem.New(http.StatusBadRequest, "bad_value", "mempool: a streamed list has no unconfirmed transactions: "+
			"expected exclude, or Accept: %s", jsonType))
		return
	}
	if stream {
		a.stream(w, r, q)
		return
	}
	cache := &q.chain.answers
	if q.op.body != nil || q.volatile() || q.op.lasting || cache.maxBytes <= 0 {
		a.answer(w, r, q, nil)
		return
	}
	tip, moved := q.chain.Moved()
	question := r.URL.EscapedPath() + "?" + r.URL.RawQuery
	if c := cache.find(moved, question); c != nil {
		sendAt(w, r, &result{tip: c.tip, text: c.text, final: c.final})
		return
	}
	a.answer(w, r, q, func(res *result) {
		// The answer can be of another tip, or of other indexes, than the channel.
		if _, now := q.chain.Moved(); now == moved && res.tip.tip == tip {
			cache.add(moved, question, res.tip, res.text, res.final)
		}
	})
}

// caching caches an answer.
type caching func(*result)

// freeRows is how many rows a request reads by itself in addition to its page.
var freeRows = 1000

// answer reads and sends the answer. It is read with a limit on the number of rows. If that is reached, concurrent equal
// requests share one reading. add may be nil.
func (a *API) answer(w http.ResponseWriter, r *http.Request, q *request, add caching) {
	b := buffers.Get().(*buffer)
	defer b.release()
	res, err := a.read(r.Context(), q, freeRows+q.page.Limit, b, r.Header["If-None-Match"], add)
	if errors.Is(err, query.ErrTooManyRows) {
		res, err = a.shared(w, r, q, add)
	}
	res.tip.write(w.Header())
	switch {
	case err != nil:
		a.fail(w, r, err)
	case q.volatile():
		send(w, r, res.text, tagBody(w, r, res.text))
	case res.tip == nil || q.op.body != nil:
		send(w, r, res.text, false)
	case res.same:
		w.Header()["Etag"] = res.tip.etag
		send(w, r, nil, true)
	default:
		sendAt(w, r, &res)
	}
}

// shared reads an answer once for all concurrent equal requests. The client of the first one pays.
func (a *API) shared(w http.ResponseWriter, r *http.Request, q *request, add caching) (result, error) {
	question, err := q.question()
	if err != nil {
		return result{}, err
	}
	_, moved := q.chain.Moved()
	key := callKey{at: moved, question: question}
	if q.mempool && q.chain.Mempool != nil {
		key.standing = q.chain.Mempool.Standing()
	}
	calls := &q.chain.calls
	part := ratelimit.Part(w)
	c := calls.joinOrStart(context.WithoutCancel(r.Context()), key, func(ctx context.Context) (result, error) {
		ctx, end := part(ctx)
		defer end()
		return a.read(ctx, q, 0, new(buffer), nil, add)
	})
	return calls.wait(r.Context(), key, c)
}

// read reads the answer at one tip and writes it to b. It fails with [core.ErrTooManyRows] after the given number of
// rows; 0: no limit. If an ETag of known matches, it reads nothing. The result has the tip also on errors.
func (a *API) read(
	ctx context.Context, q *request, rows int, b *buffer, known []string, add caching,
) (res result, err error) {
	look := func(v *query.View) error {
		if err := res.at(ctx, v, q, known); err != nil || res.same {
			return err
		}
		v.AtMost(rows)
		answer, err := q.op.ask(ctx, v, q)
		if err != nil {
			return err
		}
		if err := b.encode(answer); err != nil {
			return err
		}
		if q.cacheAs != "" {
			q.chain.blocks.add(nil, q.cacheAs, nil, b.text, false)
		}
		return nil
	}
	if err = q.view(ctx, look); errors.Is(err, errLookAgain) {
		err = q.view(ctx, look)
	}
	if err != nil {
		return res, err
	}
	res.text, res.final = b.text, q.final
	if add != nil && res.tip != nil && !res.same && !q.volatile() {
		add(&res)
	}
	return res, nil
}

// result is an answer. Several requests may send its text, which is immutable.
type result struct {
	tip  *tipHeaders // nil: before the first block
	text []byte
	same bool // the client has the answer

	final bool // the answer can no longer change
}

// at sets the tip of the result, and whether the client has the answer.
func (res *result) at(ctx context.Context, v *query.View, q *request, known []string) error {
	indexes, err := q.chain.indexes.of(ctx, v)
	if err != nil {
		return err
	}
	res.tip = q.chain.headers(v.Tip, indexes)
	res.same = res.tip != nil && q.op.body == nil && !q.volatile() && served.MatchesETag(known, res.tip.etag[0])
	return nil
}

// sendAt sends an answer that the tip determines, or 304 if the client has it. The ETag of an answer that can no longer
// change is made of the body, so that it does not change either.
func sendAt(w http.ResponseWriter, r *http.Request, res *result) {
	h := w.Header()
	res.tip.write(h)
	if res.final {
		h["Cache-Control"] = immutable
		h["Etag"] = []string{`"` + shortHash(res.text) + `"`}
	} else {
		h["Etag"] = res.tip.etag
	}
	send(w, r, res.text, served.MatchesETag(r.Header["If-None-Match"], h["Etag"][0]))
}

var (
	jsonTypes = []string{jsonType}
	noCache   = []string{"no-cache"}
	immutable = []string{"public, max-age=31536000, immutable"}
)

// send sends a document, or 304 if the client has it.
func send(w http.ResponseWriter, r *http.Request, body []byte, same bool) {
	h := w.Header()
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = noCache
	}
	if same {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if h["Content-Type"] == nil {
		h["Content-Type"] = jsonTypes
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // fails only if the client is gone
	}
}

func notAcceptable(op *operation) error {
	has := jsonType
	if op.entries != nil {
		has += " or " + streamType
	}
	return problem.New(http.StatusNotAcceptable, "not_acceptable", "Accept: %s returns %s", op.Path, has)
}

// maxBody is the largest body of a request in bytes: a thousand values of an index have less.
const maxBody = 1 << 20

// readBody reads the JSON document of a request.
func (q *request) readBody(w http.ResponseWriter, r *http.Request) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != jsonType {
		return problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type",
			"Content-Type %q: expected %s", r.Header.Get("Content-Type"), jsonType)
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
	return problem.New(http.StatusBadRequest, "bad_body", "body: expected a JSON document such as %s: %s",
		q.op.Example.Body, strings.TrimPrefix(err.Error(), "json: "))
}
