package control

import (
	"errors"
	"fmt"

	"birthmark/core/query"
	"birthmark/model"
)

// Kinds of requests.
const (
	Add   = "add"   // add the index with its options
	Drop  = "drop"  // drop the index
	State = "state" // return the state of the indexes
)

// Request is a request to the writing process.
type Request struct {
	Do         string             `json:"do"`
	Index      string             `json:"index,omitempty"`
	Keep       model.IndexOptions `json:"keep"`
	Definition *model.Definition  `json:"definition,omitempty"` // of a custom index
}

// check returns an error of kind Usage, code bad_request, for invalid requests.
func (r *Request) check() error {
	bad := func(format string, args ...any) error {
		return model.Errorf(model.Usage, "bad_request", "a request through the control socket: "+format, args...)
	}
	switch {
	case r.Do != Add && r.Do != Drop && r.Do != State:
		return bad("expected %s, %s or %s, not %.40q", Add, Drop, State, r.Do)
	case (r.Index == "") != (r.Do == State):
		return bad("%s of index %.40q", r.Do, r.Index)
	case r.Definition != nil && (r.Do != Add || r.Definition.Name != r.Index || !r.Definition.Kind.Valid()):
		return bad("%s of index %.40q with a definition of %.40q", r.Do, r.Index, r.Definition.Name)
	}
	return nil
}

// Reply is the response of the writing process.
type Reply struct {
	PID    int                `json:"pid"`
	Error  *Error             `json:"error,omitempty"` // nothing was done
	States []query.IndexState `json:"states,omitempty"`
	Failed string             `json:"failed,omitempty"` // why a backfill or drop is paused
}

// Error is an error in JSON.
type Error struct {
	Kind    model.ErrorKind `json:"kind"`
	Code    string          `json:"code"`
	Message string          `json:"message"`
}

// ErrorOf converts an error to JSON.
func ErrorOf(err error) *Error {
	kind, code := model.KindOf(err)
	return &Error{kind, code, err.Error()}
}

func (e *Error) err() error {
	if e.Kind > model.BadSource {
		return fmt.Errorf("an error of no kind that is known: %s", e.Message)
	}
	return &model.Error{Kind: e.Kind, Code: e.Code, Err: errors.New(e.Message)}
}
