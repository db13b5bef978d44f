package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/control"
	"birthmark/internal/humanize"
	"birthmark/storage"
)

func (p *program) statusCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:  "status",
		Usage: "show chain, tip, indexes, and the rows and bytes of each column family",
	}, func(r *request) (*statusAnswer, error) {
		a, err := r.db.Status(r.ctx)
		if err != nil {
			return nil, err
		}
		running := askWriter(r)
		replication, err := replicationOf(r, running)
		return &statusAnswer{a, running.sync(), replication}, err
	}, showStatus)
}

type statusAnswer struct {
	*query.StatusAnswer
	Sync        *syncState        `json:"sync,omitempty"`        // absent: no process syncs the database
	Replication *replicationState `json:"replication,omitempty"` // absent: no segments are recorded or applied
}

// replicationState is the position of a primary or replica.
type replicationState struct {
	Lineage string   `json:"lineage"`
	Seq     uint64   `json:"seq"`               // the last update
	Primary string   `json:"primary,omitempty"` // of a replica: where its segments come from
	Behind  *uint64  `json:"behind,omitempty"`  // of a running replica: updates that it does not have yet
	Lag     *float64 `json:"lag,omitempty"`     // of a running replica: seconds since it was last known to be equal to the primary
	PID     int      `json:"pid,omitempty"`     // of the process that writes the replica
}

// replicationOf returns the position of the database; nil if its updates are not numbered.
func replicationOf(r *request, running *writer) (*replicationState, error) {
	at, known, _, err := segment.Position(r.ctx, r.db.Store)
	if err != nil || !known {
		return nil, err
	}
	s := &replicationState{Lineage: fmt.Sprintf("%x", at.Lineage[:]), Seq: at.Seq}
	err = r.db.Store.View(r.ctx, func(v storage.Reader) (err error) {
		s.Primary, err = schema.ReadPrimary(v)
		return err
	})
	if p := running.reply.Replica; err == nil && running.err == nil && p != nil {
		behind := p.Newest - min(p.Newest, s.Seq)
		s.Behind, s.Lag, s.PID = &behind, &p.Lag, running.reply.PID
	}
	return s, err
}

// replicationCell returns the position as the value of a field.
func replicationCell(s *replicationState) any {
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

// syncState is the process that syncs the database.
type syncState struct {
	PID    int     `json:"pid,omitempty"`
	Target *uint32 `json:"target,omitempty"` // the source's tip when the sync began; absent: not known yet
	Behind *uint32 `json:"behind,omitempty"` // blocks between the sync and Target
	Error  string  `json:"error,omitempty"`  // why the process did not answer
}

// answerWithin is the time in which a sync answers.
const answerWithin = 5 * time.Second

// writer is the reply of the process that writes the database.
type writer struct {
	reply control.Reply
	err   error
}

// askWriter asks the process that writes the database for its state.
func askWriter(r *request) *writer {
	ctx, cancel := context.WithTimeout(r.ctx, answerWithin)
	defer cancel()
	reply, err := control.Ask(ctx, r.db.Dir, control.Request{Do: control.State})
	return &writer{reply, err}
}

// sync returns the state of the sync; nil if no process syncs the database.
func (w *writer) sync() *syncState {
	reply, err := w.reply, w.err
	switch {
	case errors.Is(err, control.ErrNobody), err == nil && reply.Sync == nil:
		return nil
	case err != nil:
		return &syncState{Error: err.Error()}
	}
	s := &syncState{PID: reply.PID}
	if target := uint32(reply.Sync.Target); target > 0 {
		behind := target - min(target, uint32(reply.Sync.Height))
		s.Target, s.Behind = &target, &behind
	}
	return s
}

// syncCell returns the state of the sync as the value of a field.
func syncCell(s *syncState) any {
	switch {
	case s == nil:
		return "not running"
	case s.Error != "":
		return terminal.Yellow("unknown: " + s.Error)
	case s.Behind == nil:
		return terminal.Yellow(fmt.Sprintf("running (pid %d), waiting for the source", s.PID))
	case *s.Behind == 0:
		return fmt.Sprintf("running (pid %d), at the tip", s.PID)
	}
	return terminal.Yellow(fmt.Sprintf("running (pid %d), %s behind block %s", s.PID, humanize.Plural(*s.Behind, "block"), humanize.Count(*s.Target)))
}

func showStatus(p *terminal.Page, a *statusAnswer) {
	t := a.Totals
	genesis := ""
	if t.GenesisOutputs > 0 {
		genesis = humanize.Count(t.GenesisOutputs)
	}
	p.Fields(
		"chain", terminal.Green(a.Chain+" "+a.Network),
		"format", a.Format,
		"tip", tipCell(a.Tip),
		"sync", syncCell(a.Sync),
		"replication", replicationCell(a.Replication),
		"blocks", t.Blocks,
		"transactions", t.Txs,
		"inputs", t.Inputs,
		"outputs", t.Outputs,
		"genesis outputs", genesis,
		"assets", t.Assets,
		"unspent", humanize.Plural(t.Unspent, "output")+", "+p.Amount(t.UnspentValue),
	)
	p.Heading("indexes")
	terminal.Table(p, a.Indexes, []string{"name", "kind", "values"}, func(_ int, ix query.IndexAnswer) terminal.Cells {
		return terminal.Cells{ix.Name, ix.Kind, ix.Values}
	})
	p.Heading("families")
	all := query.FamilyAnswer{Name: "all"}
	for _, f := range a.Families {
		all.Keys, all.Bytes = all.Keys+f.Keys, all.Bytes+f.Bytes
	}
	families := append(a.Families[:len(a.Families):len(a.Families)], all)
	terminal.Table(p, families, []string{"name", "rows", "size"}, func(i int, f query.FamilyAnswer) terminal.Cells {
		var name any = f.Name
		if i == len(a.Families) {
			name = terminal.Bold(name)
		}
		return terminal.Cells{name, f.Keys, terminal.Right(humanize.Bytes(f.Bytes))}
	})
}

// tipCell returns the tip as the value of a field.
func tipCell(tip *query.TipAnswer) any {
	if tip == nil {
		return terminal.Yellow("none: no block was synced yet")
	}
	return fmt.Sprintf("%s  %s  %s", humanize.Count(tip.Height), tip.Hash, humanize.Clock(tip.Time))
}
