package segments

import (
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/model"
)

// Options configure a [Handler].
type Options struct {
	Log      *segment.Log
	Tip      func() model.Point // of the database
	NeedsKey bool               // requests without an API key are rejected
	Done     <-chan struct{}    // ends all streams; nil: never
	Errors   *slog.Logger
}

const (
	// stateEvery is the interval of frames while there are no segments.
	stateEvery = 500 * time.Millisecond
	// writeTimeout is the time in which a replica must accept a frame.
	writeTimeout = 30 * time.Second
)

// Handler serves the segments of a log at any path.
func Handler(o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			problem.Write(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "method %.20s is not allowed for segments: use GET", r.Method))
			return
		}
		if err := o.serve(w, r); err != nil {
			problem.Write(w, problemOf(err))
		}
	})
}

// problemOf returns the problem of a replica that cannot be served.
func problemOf(err error) *problem.Problem {
	p := *problem.Of(err)
	switch p.Code {
	case "diverged":
		p.Status = http.StatusConflict
	case "segment_gap":
		p.Status = http.StatusGone
	}
	return problem.New(p.Status, p.Code, "%s", p.Detail)
}

// serve streams segments. The error is one before the stream began.
func (o *Options) serve(w http.ResponseWriter, r *http.Request) error {
	if o.NeedsKey && ratelimit.KeyOf(w) == "" {
		w.Header().Set("Www-Authenticate", `Bearer realm="birthmark"`)
		return problem.New(http.StatusUnauthorized, "unauthorized",
			"API key required for segments: send the header Authorization: Bearer KEY, or X-API-Key: KEY")
	}
	at, follow, err := parse(r)
	if err != nil {
		return err
	}
	if err := o.Log.Follows(at); err != nil {
		return err
	}
	if err := ratelimit.Bulk(w); err != nil {
		return err
	}
	w.Header().Set("Content-Type", ContentType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	if err := o.stream(w, r, at.Seq, follow); err != nil && r.Context().Err() == nil {
		o.Errors.Warn("the stream of segments to a replica ended", "error", err)
	}
	return nil
}

// parse reads the position of the replica.
func parse(r *http.Request) (at schema.Position, follow bool, err error) {
	q := r.URL.Query()
	bad := func(name, expected string) error {
		return problem.New(http.StatusBadRequest, "bad_value", "%s: invalid value %.80q: expected %s", name, q.Get(name), expected)
	}
	for name := range q {
		switch name {
		case "lineage", "seq", "hash", "follow":
		default:
			return at, false, problem.New(http.StatusBadRequest, "unknown_parameter",
				"unknown parameter %.40q: segments has lineage, seq, hash, follow", name)
		}
	}
	if text := q.Get("seq"); text != "" {
		if at.Seq, err = strconv.ParseUint(text, 10, 64); err != nil {
			return at, false, bad("seq", "the number of an update")
		}
	}
	for name, to := range map[string][]byte{"lineage": at.Lineage[:], "hash": at.Hash[:]} {
		if text := q.Get(name); text != "" {
			if b, err := hex.DecodeString(text); err != nil || copy(to, b) != len(to) || len(b) != len(to) {
				return at, false, bad(name, strconv.Itoa(2*len(to))+" hexadecimal digits")
			}
		}
	}
	switch q.Get("follow") {
	case "", "true":
		return at, true, nil
	case "false":
		return at, false, nil
	}
	return at, false, bad("follow", "true or false")
}

// stream sends segments from seq+1 on. A gap that appears ends the stream: the next request of the replica gets an error.
func (o *Options) stream(w http.ResponseWriter, r *http.Request, seq uint64, follow bool) error {
	out := http.NewResponseController(w)
	var buf []byte
	send := func(f Frame) error {
		buf = f.appendTo(buf[:0])
		if err := out.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		return out.Flush()
	}
	ticker := time.NewTicker(stateEvery)
	defer ticker.Stop()
	var reported time.Time
	for {
		state, changed := o.Log.State()
		for seq < state.Seq {
			if now := time.Now(); now.Sub(reported) >= stateEvery { // a replica that is behind shows how far
				reported = now
				newest, _ := o.Log.State()
				if err := send(Frame{Seq: newest.Seq, Height: o.Tip().Height}); err != nil {
					return err
				}
			}
			b, err := o.Log.Read(seq + 1)
			if errors.Is(err, segment.ErrMissing) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := send(Frame{Segment: b}); err != nil {
				return err
			}
			seq++
			if r.Context().Err() != nil {
				return nil
			}
		}
		if err := send(Frame{Seq: state.Seq, Height: o.Tip().Height}); err != nil || !follow {
			return err
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-r.Context().Done():
			return nil
		case <-o.Done:
			return nil
		}
	}
}
