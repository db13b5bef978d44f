package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/control"
	"birthmark/internal/humanize"
)

func (p *program) statusCommand() *cli.Command {
	families := false
	return queryCommand(p, cli.Command{
		Name:  "status",
		Usage: "show chain, tip, state of the sync, indexes and size",
		Flags: []cli.Flag{command.Bool("families", "also list the column families, with their rows and bytes")},
	}, func(r *request) (*statusAnswer, error) {
		families = r.Bool("families")
		a, err := r.db.Status(r.ctx)
		if err != nil {
			return nil, err
		}
		running := askWriter(r)
		replication, err := replicationOf(r.ctx, r.db, running.reply)
		return &statusAnswer{a, running.sync(), replication}, err
	}, func(p *terminal.Page, a *statusAnswer) { showStatus(p, a, families) })
}

type statusAnswer struct {
	*query.StatusAnswer
	Sync        *syncState        `json:"sync,omitempty"`        // absent: no process syncs the database
	Replication *replicationState `json:"replication,omitempty"` // absent: no segments are recorded or applied
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

func showStatus(p *terminal.Page, a *statusAnswer, families bool) {
	t, rows, all := a.Totals, uint64(0), query.FamilyAnswer{Name: "all"}
	for _, f := range a.Families {
		rows, all.Bytes = rows+f.Rows(), all.Bytes+f.Bytes
	}
	all.Keys = &rows
	genesis := ""
	if t.GenesisOutputs > 0 {
		genesis = humanize.Count(t.GenesisOutputs)
	}
	p.Fields(
		"chain", terminal.Green(a.Chain+" "+a.Network),
		"format", a.Format,
		"tip", command.TipCell(a.Tip),
		"sync", syncCell(a.Sync),
		"replication", a.Replication.cell(),
		"blocks", t.Blocks,
		"transactions", t.Txs,
		"inputs", t.Inputs,
		"outputs", t.Outputs,
		"genesis outputs", genesis,
		"assets", t.Assets,
		"unspent", humanize.Plural(t.Unspent, "output")+", "+p.Amount(t.UnspentValue),
		"size", humanize.Plural(rows, "row")+", "+humanize.Bytes(all.Bytes),
	)
	p.Heading("indexes")
	terminal.Table(p, a.Indexes, []string{"name", "kind", "values"}, func(_ int, ix query.IndexAnswer) terminal.Cells {
		return terminal.Cells{ix.Name, ix.Kind, ix.Values}
	})
	if !families {
		return
	}
	p.Heading("families")
	terminal.Table(p, append(a.Families[:len(a.Families):len(a.Families)], all), []string{"name", "rows", "size"}, func(i int, f query.FamilyAnswer) terminal.Cells {
		var name any = f.Name
		if i == len(a.Families) {
			name = terminal.Bold(name)
		}
		var rows any = ""
		if f.Keys != nil {
			rows = *f.Keys
		}
		return terminal.Cells{name, rows, terminal.Right(humanize.Bytes(f.Bytes))}
	})
}
