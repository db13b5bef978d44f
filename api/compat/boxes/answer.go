package boxes

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"birthmark/api/ratelimit"
	"birthmark/chains/ergo/sigma"
)

// Answer collects the body of an answer. A long one is sent in parts.
type Answer struct {
	Out  []byte
	Ctx  context.Context
	Sent bool // a part was sent

	Query map[string]string // the parameters of the request, the first of each name

	w      http.ResponseWriter
	r      *http.Request
	buffer *[]byte // of Out
}

// buffers has the memory of bodies that were sent. Most bodies are larger than all other memory of a request.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the size in bytes up to which the memory of a body is used again.
const maxBuffer = 1 << 20

// NewAnswer returns an empty answer to a request. The caller calls [Answer.Free] when it is sent.
func NewAnswer(w http.ResponseWriter, r *http.Request) *Answer {
	buffer := buffers.Get().(*[]byte)
	query := map[string]string{}
	for name, values := range r.URL.Query() {
		query[name] = values[0]
	}
	return &Answer{Ctx: r.Context(), Out: (*buffer)[:0], Query: query, w: w, r: r, buffer: buffer}
}

// flushAt is the size in bytes of the parts in which long answers are sent.
const flushAt = 64 << 10

// Flush sends the answer so far if it is long. A long answer has no time limit.
func (a *Answer) Flush() error {
	if len(a.Out) < flushAt {
		return nil
	}
	if !a.Sent {
		if err := ratelimit.Stream(a.w); err != nil {
			return err
		}
		a.Sent = true
	}
	_, err := a.w.Write(a.Out)
	if a.Out = a.Out[:0]; err == nil {
		err = a.Ctx.Err()
	}
	return err
}

// End sends the rest of the answer.
func (a *Answer) End() {
	if !a.Sent {
		a.w.Header()["Content-Length"] = []string{strconv.Itoa(len(a.Out))}
	}
	_, _ = a.w.Write(a.Out) // fails only if the client is gone
}

// Free releases the memory of the answer. It is called once, after End or after a failure; Out is not
// valid afterwards.
func (a *Answer) Free() {
	if cap(a.Out) <= maxBuffer {
		*a.buffer = a.Out
		buffers.Put(a.buffer)
	}
	a.Out = nil
}

// Add appends parts of JSON.
func (a *Answer) Add(parts ...string) {
	for _, p := range parts {
		a.Out = append(a.Out, p...)
	}
}

// Uint appends a number.
func (a *Answer) Uint(n uint64) { a.Out = strconv.AppendUint(a.Out, n, 10) }

// Int appends a number.
func (a *Answer) Int(n int) { a.Out = strconv.AppendInt(a.Out, int64(n), 10) }

// Hex appends bytes as a string of hex digits.
func (a *Answer) Hex(b []byte) {
	a.Out = append(a.Out, '"')
	a.Out = hex.AppendEncode(a.Out, b)
	a.Out = append(a.Out, '"')
}

// ID appends an id.
func (a *Answer) ID(id sigma.ID) { a.Hex(id[:]) }

// Text appends a string.
func (a *Answer) Text(text string) {
	if plain(text) {
		a.Add(`"`, text, `"`)
		return
	}
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // impossible for a string
	}
	a.Out = append(a.Out, b...)
}

// plain reports whether a string needs no escapes in JSON.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Comma appends a comma before every item of a list but the first.
func (a *Answer) Comma(i int) {
	if i > 0 {
		a.Out = append(a.Out, ',')
	}
}

// IDs appends a list of ids.
func (a *Answer) IDs(ids []sigma.ID) {
	a.Add("[")
	for i, id := range ids {
		a.Comma(i)
		a.ID(id)
	}
	a.Add("]")
}
