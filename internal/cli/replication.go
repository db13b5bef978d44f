package cli

import (
	"context"
	"fmt"
	"time"

	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/control"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/storage"
)

// replicationState is the replication in the status of a database: the position of a primary or replica.
type replicationState struct {
	Lineage string   `json:"lineage"`
	Seq     uint64   `json:"seq"`               // the last update
	Primary string   `json:"primary,omitempty"` // of a replica: the source of its segments
	Behind  *uint64  `json:"behind,omitempty"`  // of a running replica: updates that it does not have yet
	Lag     *float64 `json:"lag,omitempty"`     // of a running replica: seconds since it was last known to be equal to the primary
	PID     int      `json:"pid,omitempty"`     // of the process that writes the replica
}

// replicationOf returns the state of a database, with the reply of the process that writes it; nil if its updates are not
// numbered.
func replicationOf(ctx context.Context, db *daemon.Database, reply control.Reply) (*replicationState, error) {
	at, known, _, err := segment.Position(ctx, db.Store)
	if err != nil || !known {
		return nil, err
	}
	s := &replicationState{Lineage: fmt.Sprintf("%x", at.Lineage[:]), Seq: at.Seq}
	err = db.Store.View(ctx, func(v storage.Reader) (err error) {
		s.Primary, err = schema.ReadPrimary(v)
		return err
	})
	if p := reply.Replica; err == nil && p != nil {
		behind := p.Newest - min(p.Newest, s.Seq)
		s.Behind, s.Lag, s.PID = &behind, &p.Lag, reply.PID
	}
	return s, err
}

// cell returns the state as the value of a field.
func (s *replicationState) cell() any {
	switch {
	case s == nil:
		return ""
	case s.Primary == "":
		return "update " + humanize.Count(s.Seq) + " is recorded"
	case s.Lag == nil:
		return terminal.Yellow(fmt.Sprintf("update %s of %s; birthmark replicate is not running", humanize.Count(s.Seq), s.Primary))
	case *s.Lag == 0:
		return fmt.Sprintf("update %s of %s (pid %d), equal to the primary", humanize.Count(s.Seq), s.Primary, s.PID)
	}
	return terminal.Yellow(fmt.Sprintf("update %s of %s (pid %d), %s behind, equal to the primary %s ago", humanize.Count(s.Seq), s.Primary,
		s.PID, humanize.Plural(*s.Behind, "update"), time.Duration(*s.Lag*float64(time.Second)).Round(time.Second)))
}
