package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/cursor"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// followFlags returns the flags of find that need --follow.
func followFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "follow", DisableDefaultText: true, Usage: "stream new matches block by block until interrupted; without VALUE, match every value"},
		&cli.BoolFlag{Name: "spends", DisableDefaultText: true, Usage: "with --follow: also print the inputs that spend matching outputs"},
		&cli.BoolFlag{Name: "until-tip", DisableDefaultText: true, Usage: "with --follow: stop at the tip"},
		&cli.StringFlag{Name: "cursor", Usage: "with --follow: continue from the cursor `NAME` and advance it"},
		&cli.StringFlag{Name: "poll", Usage: "with --follow: poll for new blocks every `TIME`", DefaultText: "1s"},
	}
}

const (
	defaultPoll = time.Second
	leastPoll   = 10 * time.Millisecond

	flushEvery = 200 * time.Millisecond // while there are more events
	keepEvery  = time.Second            // saves the cursor while there are more events
)

// tail is a running find --follow.
type tail struct {
	*program
	c    *cli.Context
	set  *config.Chain
	what changes.Filter
	poll time.Duration

	cursor *cursor.Held   // nil: none
	kept   *cursor.Cursor // its position at the start; nil: a new cursor

	out     *terminal.Page
	lines   *json.Encoder // of out
	begun   bool
	at      model.Point   // the last block that was printed
	known   []model.Point // the locator of it
	flushed time.Time
	marked  time.Time
}

// follow prints events until it is interrupted, or until the tip with --until-tip.
func (p *program) follow(c *cli.Context) (err error) {
	f := &tail{program: p, c: c, poll: defaultPoll}
	if err := f.read(); err != nil {
		return err
	}
	if f.set, err = p.One(c); err != nil {
		return err
	}
	dir, err := daemon.ExistingFolder(f.set)
	if err != nil {
		return err
	}
	if name := c.String("cursor"); name != "" {
		if err := f.take(cursor.Of(dir), name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.cursor.Release()) }()
	}
	f.out = terminal.NewPage(p.Stdout, p.Colour(), nil)
	f.lines = json.NewEncoder(f.out)
	f.lines.SetEscapeHTML(false)
	for {
		seen, err := daemon.Written(dir)
		if err != nil {
			return err
		}
		took, err := f.pass()
		if stop := c.Context.Err(); stop != nil && errors.Is(err, stop) {
			return nil // interrupted while opening the database
		}
		if err != nil || c.Bool("until-tip") || c.Context.Err() != nil {
			return err
		}
		if err := f.wait(dir, seen, max(f.poll, daemon.ReopenPart*took)); err != nil || c.Context.Err() != nil {
			return err
		}
	}
}

// read reads arguments and flags, and rejects flags that --follow does not support.
func (f *tail) read() (err error) {
	c := f.c
	for _, name := range []string{"and", "or", "unspent", "limit", "after", "order", "height-to", "time-to"} {
		if c.IsSet(name) {
			return command.UsageError("bad_value", "--follow cannot be combined with --%s", name)
		}
	}
	f.what = changes.Filter{Term: query.Term{Index: c.Args().Get(0), Value: c.Args().Get(1)}, Spends: c.Bool("spends")}
	start, err := command.Range(c)
	if err != nil {
		return err
	}
	if start != (query.Range{}) {
		f.what.Start = &start
	}
	if c.IsSet("cursor") {
		if err := cursor.CheckName(c.String("cursor")); err != nil {
			return err
		}
	}
	if c.IsSet("poll") {
		if f.poll, err = time.ParseDuration(c.String("poll")); err != nil || f.poll < leastPoll {
			return command.BadValue(c, "poll", "a duration of at least %v, such as 500ms", leastPoll)
		}
	}
	return nil
}

// take locks the cursor.
func (f *tail) take(folder cursor.Folder, name string) (err error) {
	if f.cursor, err = f.holdCursor(f.c, folder, name); err != nil {
		return err
	}
	f.kept, err = folder.Read(name)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		f.kept, err = nil, nil
	}
	if err == nil && f.kept != nil && f.what.Start != nil {
		err = command.UsageError("bad_value", "cursor %s already has a position: --height-from and --time-from are only for a new cursor", name)
	}
	if err != nil {
		err = errors.Join(err, f.cursor.Release())
	}
	return err
}

// pass prints the new events of the database and returns the time it took to open it.
func (f *tail) pass() (took time.Duration, err error) {
	began := f.Now()
	db, err := f.Host(f.c).OpenReading(f.c.Context, f.set, core.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	took = f.Now().Sub(began)
	if !f.begun {
		f.out.Chain = db.Chain()
		if f.kept != nil {
			if f.known, err = pointsOf(db.Chain(), f.c.String("cursor"), f.kept); err != nil {
				return took, err
			}
			f.what.Start = nil
		}
	}
	for e, err := range changes.Follow(f.c.Context, db.Queries, f.known, f.what) {
		if err != nil {
			if f.c.Context.Err() != nil {
				break // interrupted: printed events count
			}
			return took, errors.Join(err, f.keep(db))
		}
		if err := f.tell(db, e); err != nil {
			return took, err
		}
	}
	f.what.Start = nil
	return took, f.keep(db)
}

func (f *tail) tell(db *daemon.Database, e changes.Change) error {
	switch {
	case e.Rollback != nil:
		if f.begun && *e.Rollback == f.at {
			return nil
		}
		f.begun, f.at = true, *e.Rollback
		// The cursor moves back before a rollback is printed, and forward after a block is printed: it is never ahead of the
		// client, even if the chain returns to an orphaned branch.
		if err := f.mark(db); err != nil {
			return err
		}
	case e.Block != nil:
		f.at = *e.Block
	}
	if err := f.write(e); err != nil {
		return err
	}
	now := f.Now()
	switch {
	case e.Block == nil:
	case f.cursor != nil && now.Sub(f.marked) >= keepEvery:
		return f.keep(db)
	case now.Sub(f.flushed) >= flushEvery:
		f.flushed = now
		return f.out.Flush()
	}
	return nil
}

// write writes one line.
func (f *tail) write(e changes.Change) error {
	f.Printed = true // later errors are not printed as documents
	if f.JSON {
		return f.lines.Encode(e)
	}
	showEvent(f.out, e)
	return nil
}

// keep flushes the printed events and saves the position.
func (f *tail) keep(db *daemon.Database) error {
	f.flushed = f.Now()
	if err := f.out.Flush(); err != nil || !f.begun {
		return err
	}
	return f.mark(db)
}

// mark sets the cursor, if there is one, to the position after the last block.
func (f *tail) mark(db *daemon.Database) (err error) {
	if !f.marked.IsZero() && len(f.known) > 0 && f.known[0] == f.at {
		return nil
	}
	if f.known, err = changes.Locator(context.WithoutCancel(f.c.Context), db.Queries, f.at); err != nil || f.cursor == nil {
		return err
	}
	f.marked = f.Now()
	return f.cursor.Write(f.cursorAt(db.Chain(), f.known))
}

// wait waits until something was written to the database in dir since seen.
func (f *tail) wait(dir, seen string, pause time.Duration) error {
	for {
		select {
		case <-f.c.Context.Done():
			return nil
		case <-time.After(pause):
		}
		if now, err := daemon.Written(dir); err != nil || now != seen {
			return err
		}
		pause = f.poll
	}
}

// showEvent prints an event as one line of text.
func showEvent(p *terminal.Page, e changes.Change) {
	switch {
	case e.Output != nil:
		o := *e.Output
		p.Printf("%s %s  %s  %s\n", p.Styled(terminal.Green("+")), p.Amount(o.Value), place(o), owner(p, o))
	case e.Spend != nil:
		by := fmt.Sprintf("spent by %s input %d", e.Spend.SpentBy.Tx, e.Spend.SpentBy.Input)
		p.Printf("%s %s:%d  %s\n", p.Styled(terminal.Yellow("-")), e.Spend.Tx, e.Spend.Index, p.Styled(terminal.Faint(by)))
	case e.Block != nil:
		p.Printf("%s\n", p.Styled(terminal.Faint(fmt.Sprintf("block %s  %s", humanize.Count(e.Block.Height), e.Hash))))
	case e.Rollback.IsOrigin():
		p.Printf("%s\n", p.Styled(terminal.Bold("from the origin")))
	default:
		p.Printf("%s\n", p.Styled(terminal.Bold(fmt.Sprintf("after block %s  %s", humanize.Count(e.Rollback.Height), e.Hash))))
	}
}
