package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core"
	"birthmark/model"
)

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
	cost := q.cost()
	if stream {
		a.stream(w, r, q, cost)
		return
	}
	if q.op.body != nil || q.op.volatile || q.op.lasting || q.chain.kept.most <= 0 {
		a.answer(w, r, q, cost, nil)
		return
	}
	tip, moved := q.chain.Moved()
	question := r.URL.EscapedPath() + "?" + r.URL.RawQuery
	if k := q.chain.kept.find(moved, question); k != nil {
		sendAt(w, r, k.names, k.text)
		return
	}
	a.answer(w, r, q, cost, func(names *tipNames, text []byte) {
		// It may be of another tip, or of other indexes, than the channel is.
		if _, now := q.chain.Moved(); now == moved && names.tip == tip {
			q.chain.kept.keep(moved, question, names, text)
		}
	})
}

// keeping caches an answer that depends on nothing but the tip.
type keeping func(names *tipNames, text []byte)

// answer asks the question at one tip, for what it costs. A plain request is read at once, within a limit of rows. What
// costs more, or turns out to, waits for its part of the work that is done at once, and is read once for all who ask
// it. Keep is nil when the answer is not kept.
func (a *API) answer(w http.ResponseWriter, r *http.Request, q *request, cost int64, keep keeping) {
	b := buffers.Get().(*buffer)
	defer b.release()
	var m made
	var err error
	rows, known := freeRows+q.page.Limit, r.Header["If-None-Match"]
	if cost == ratelimit.Plain {
		m, err = a.read(r.Context(), q, rows, b, known, keep)
	} else {
		if len(known) > 0 {
			m, err = a.unchanged(r.Context(), q, known)
		}
		if err == nil && !m.same {
			m, err = a.shared(w, r, q, rows, cost, keep)
		}
	}
	if errors.Is(err, core.ErrTooManyRows) {
		m, err = a.shared(w, r, q, 0, cost+ratelimit.Heavy, keep)
	}
	m.names.write(w.Header())
	switch {
	case err != nil:
		a.fail(w, r, err)
	case q.op.volatile:
		send(w, r, m.text, tagBody(w, r, m.text))
	case m.names == nil || q.op.body != nil:
		send(w, r, m.text, false)
	case m.same:
		w.Header()["Etag"] = m.names.etag
		send(w, r, nil, true)
	default:
		sendAt(w, r, m.names, m.text)
	}
}

// shared is the answer to a question that others may ask at the same time: it is read once.
func (a *API) shared(
	w http.ResponseWriter, r *http.Request, q *request, rows int, cost int64, keep keeping,
) (made, error) {
	question, err := q.question()
	if err != nil {
		return made{}, err
	}
	_, moved := q.chain.Moved()
	key := flightKey{moved, rows, question}
	fs := &q.chain.flights
	f := fs.join(key)
	if f == nil {
		release, err := ratelimit.Take(w, cost)
		if err == nil {
			f = fs.begin(r.Context(), key, release, func(ctx context.Context) (m made, err error) {
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
					}
				}()
				return a.read(ctx, q, rows, newBuffer(), nil, keep)
			})
		} else if f = fs.join(key); f == nil { // nobody began it meanwhile
			return made{}, err
		}
	}
	return fs.wait(r.Context(), key, f)
}

// read asks the question at one tip and writes the answer to b. It goes through so many rows at most, if that is not 0:
// then the error is [core.ErrTooManyRows]. Nothing is read when the client has one of known, which are ETags. The tip
// is there with errors too.
func (a *API) read(
	ctx context.Context, q *request, rows int, b *buffer, known []string, keep keeping,
) (m made, err error) {
	err = q.chain.View(ctx, func(v *core.View) error {
		if err := m.at(ctx, v, q, known); err != nil || m.same {
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
		if q.keepAs != "" {
			q.chain.blocks.keep(nil, q.keepAs, nil, b.text)
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	m.text = b.text
	if keep != nil && m.names != nil && !m.same {
		keep(m.names, m.text)
	}
	return m, nil
}

// unchanged says whether the client has the answer, by the ETags it knows.
func (a *API) unchanged(ctx context.Context, q *request, known []string) (m made, err error) {
	err = q.chain.View(ctx, func(v *core.View) error { return m.at(ctx, v, q, known) })
	return m, err
}

// at sets the tip of an answer, and whether the client has it.
func (m *made) at(ctx context.Context, v *core.View, q *request, known []string) error {
	mark, err := q.chain.mark.of(ctx, v)
	if err != nil {
		return err
	}
	m.names = q.chain.names(v.Tip, mark)
	m.same = m.names != nil && q.op.body == nil && !q.op.volatile && matches(known, m.names.etag[0])
	return nil
}

// sendAt answers with a document that depends on nothing but the tip, or says that the client has it.
func sendAt(w http.ResponseWriter, r *http.Request, names *tipNames, text []byte) {
	names.write(w.Header())
	w.Header()["Etag"] = names.etag
	send(w, r, text, matches(r.Header["If-None-Match"], names.etag[0]))
}

// tipNames are a tip as headers have it. They are made once and shared by all answers that are made at it.
type tipNames struct {
	tip                model.Point
	mark               string
	hash, height, etag []string
}

// names are the headers of a tip, and the mark of a catalogue in its ETag; nil before the first block.
func (c *chain) names(tip model.Point, mark string) *tipNames {
	if tip.IsOrigin() {
		return nil
	}
	if n := c.named.Load(); n != nil && n.tip == tip && n.mark == mark {
		return n
	}
	hash := c.Model.FormatHash(tip.Hash)
	n := &tipNames{
		tip: tip, mark: mark,
		hash: []string{hash}, height: []string{strconv.FormatUint(uint64(tip.Height), 10)}, etag: []string{`"` + hash + mark + `"`},
	}
	c.named.Store(n)
	return n
}

// write says in the headers at which tip an answer is made.
func (n *tipNames) write(h http.Header) {
	if n != nil {
		h["X-Tip"], h["X-Tip-Height"] = n.hash, n.height
	}
}

// tagBody gives an answer that depends on more than the tip an ETag of its own bytes, behind the tip where it has one.
func tagBody(w http.ResponseWriter, r *http.Request, body []byte) (same bool) {
	etag := `"` + shortHash(body) + `"`
	if tip := w.Header()["X-Tip"]; tip != nil {
		etag = `"` + tip[0] + "-" + etag[1:]
	}
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

// matches reports whether the client has what an ETag stands for (RFC 9110, section 13.1.2: weakly compared). "*" stands for
// whatever there is, which is not known before the question is asked: it counts as none.
func matches(header []string, etag string) bool {
	for _, line := range header {
		for line != "" {
			var tag string
			tag, line, _ = strings.Cut(line, ",")
			tag = strings.TrimSpace(tag)
			if strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
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
