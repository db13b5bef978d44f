package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/changes"
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

	out     *page
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
	if f.set, err = p.one(c); err != nil {
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
	f.out = &page{w: bufio.NewWriterSize(p.stdout, 64<<10), colour: p.colourful(p.stdout)}
	f.lines = json.NewEncoder(f.out.w)
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
			return usageError("bad_value", "--follow cannot be combined with --%s", name)
		}
	}
	f.what = changes.Filter{Term: query.Term{Index: c.Args().Get(0), Value: c.Args().Get(1)}, Spends: c.Bool("spends")}
	start, err := rangeOf(c)
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
			return badValue(c, "poll", "a duration of at least %v, such as 500ms", leastPoll)
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
		err = usageError("bad_value", "cursor %s already has a position: --height-from and --time-from are only for a new cursor", name)
	}
	if err != nil {
		err = errors.Join(err, f.cursor.Release())
	}
	return err
}

// pass prints the new events of the database and returns the time it took to open it.
func (f *tail) pass() (took time.Duration, err error) {
	began := f.now()
	db, err := f.host(f.c).OpenReading(f.c.Context, f.set, core.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	took = f.now().Sub(began)
	if !f.begun {
		f.out.chain, f.out.unit = db.Chain(), humanize.UnitOf(db.Chain())
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
	now := f.now()
	switch {
	case e.Block == nil:
	case f.cursor != nil && now.Sub(f.marked) >= keepEvery:
		return f.keep(db)
	case now.Sub(f.flushed) >= flushEvery:
		f.flushed = now
		return f.out.w.Flush()
	}
	return nil
}

// write writes one line.
func (f *tail) write(e changes.Change) error {
	f.answered = true // later errors are not printed as documents
	if f.json {
		return f.lines.Encode(e)
	}
	f.out.event(e)
	return nil
}

// keep flushes the printed events and saves the position.
func (f *tail) keep(db *daemon.Database) error {
	f.flushed = f.now()
	if err := f.out.w.Flush(); err != nil || !f.begun {
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
	f.marked = f.now()
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

// event prints an event as one line of text.
func (p *page) event(e changes.Change) {
	switch {
	case e.Output != nil:
		p.printf("%s %s  %s:%d  %s\n", p.styled("+", green), p.unit.Amount(e.Output.Value), e.Output.Tx, e.Output.Index, p.owner(*e.Output))
	case e.Spend != nil:
		s := e.Spend
		p.printf("%s %s:%d  %s\n", p.styled("-", yellow), s.Tx, s.Index, p.styled(fmt.Sprintf("spent by %s input %d", s.SpentBy.Tx, s.SpentBy.Input), faint))
	case e.Block != nil:
		p.printf("%s\n", p.styled(fmt.Sprintf("block %s  %s", count(e.Block.Height), e.Hash), faint))
	case e.Rollback.IsOrigin():
		p.printf("%s\n", p.styled("from the origin", bold))
	default:
		p.printf("%s\n", p.styled(fmt.Sprintf("after block %s  %s", count(e.Rollback.Height), e.Hash), bold))
	}
}
