package control

import (
	"errors"
	"fmt"

	"birthmark/core/query"
	"birthmark/model"
)

// Operations of a [Request].
const (
	Add   = "add"   // add the index, or options of it
	Drop  = "drop"  // drop the index
	State = "state" // return the states of all indexes

	// Checkpoint creates a checkpoint of the database in the directory snapshot.CheckpointOf.
	Checkpoint = "checkpoint"
)

// Request is the body of a request.
type Request struct {
	Do         string             `json:"do"`
	Index      string             `json:"index,omitempty"`
	Keep       model.IndexOptions `json:"keep"`
	Definition *model.Definition  `json:"definition,omitempty"` // of a custom index
	Source     string             `json:"source,omitempty"`     // URI that provides the values; empty: the source of the sync
}

// check returns an error of kind Usage (bad_request) for requests that this program never sends.
func (r *Request) check() error {
	bad := func(format string, args ...any) error {
		return model.Errorf(model.Usage, "bad_request", "control socket: "+format, args...)
	}
	switch {
	case r.Do != Add && r.Do != Drop && r.Do != State && r.Do != Checkpoint:
		return bad("unknown operation %.40q: expected %s, %s, %s or %s", r.Do, Add, Drop, State, Checkpoint)
	case r.Source != "" && r.Do != Add:
		return bad("%s with a source", r.Do)
	case (r.Index == "") != (r.Do == State || r.Do == Checkpoint):
		return bad("%s with index %.40q", r.Do, r.Index)
	case r.Definition != nil && (r.Do != Add || r.Definition.Name != r.Index || !r.Definition.Kind.Valid()):
		return bad("%s of index %.40q with the definition of %.40q", r.Do, r.Index, r.Definition.Name)
	}
	return nil
}

// Reply is the body of a response.
type Reply struct {
	PID    int                `json:"pid"`
	Error  *Error             `json:"error,omitempty"` // nothing was done
	States []query.IndexState `json:"states,omitempty"`
	Failed string             `json:"failed,omitempty"` // the last failure of adding or dropping, which is retried
	Sync   *Sync              `json:"sync,omitempty"`   // nil: the process appends no blocks

	Replica *Replica `json:"replica,omitempty"` // nil: the database is no replica
}

// Replica is the state of a replica.
type Replica struct {
	Primary string  `json:"primary"`
	Seq     uint64  `json:"seq"`    // the last update
	Newest  uint64  `json:"newest"` // the newest known update of the primary
	Lag     float64 `json:"lag"`    // seconds since the replica was last known to be equal to the primary; 0: it is
}

// Sync is the progress of a sync.
type Sync struct {
	Height model.HeightPk `json:"height"`
	Target model.HeightPk `json:"target"` // the last block that the source had when the sync began
}

// Error is a serialized error.
type Error struct {
	Kind    model.ErrorKind `json:"kind"`
	Code    string          `json:"code"`
	Message string          `json:"message"`
}

// ErrorOf serializes an error.
func ErrorOf(err error) *Error {
	kind, code := model.KindOf(err)
	return &Error{kind, code, err.Error()}
}

func (e *Error) err() error {
	if e.Kind > model.Machine {
		return fmt.Errorf("unknown error kind %d: %s", e.Kind, e.Message)
	}
	return &model.Error{Kind: e.Kind, Code: e.Code, Err: errors.New(e.Message)}
}
