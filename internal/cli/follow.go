package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/api/events"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/follower"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// followFlags returns the flags of find that need --follow.
func followFlags() []cli.Flag {
	return []cli.Flag{
		command.Bool("follow", "stream new matches block by block until interrupted; without VALUE, match every value"),
		command.Bool("spends", "with --follow: also print the inputs that spend matching outputs"),
		command.Bool("until-tip", "with --follow: stop at the tip"),
		command.StringDefault("confirmations", "with --follow: only blocks with `N` confirmations", "1"),
		command.String(command.ValuesFile, "with --follow: match the values in `FILE`, one per line (- for stdin), up to 10 million"),
		command.String("follower", "with --follow: continue from the follower `NAME` and advance it"),
		command.StringDefault("poll", "with --follow: poll for new blocks every `TIME`", "1s"),
		command.Bool("pending", "with --follow: also print unconfirmed transactions of the node"),
		command.String("node", "with --pending: `URL` of the node (default: the source, if that is a node)"),
	}
}

const (
	defaultPoll = time.Second
	minPoll     = 10 * time.Millisecond

	flushEvery = 200 * time.Millisecond // while there are more events
	saveEvery  = time.Second            // saves the follower while there are more events
)

// eventStream is a running find --follow.
type eventStream struct {
	*program
	c      *cli.Context
	set    *config.Chain
	filter changes.Filter
	guess  bool // the only argument can be an index or a value
	file   *valuesFile
	poll   time.Duration

	follower *follower.Held     // nil: none
	saved    *follower.Position // its position at the start; nil: a new follower

	back bool // a rollback was printed; [eventStream.followUnconfirmed] resets it

	out       *terminal.Page
	lines     *json.Encoder // of out
	started   bool
	last      model.Point   // the last block that was printed
	locator   []model.Point // the locator of it
	flushedAt time.Time
	savedAt   time.Time
}

// follow prints events until it is interrupted, or until the tip with --until-tip.
func (p *program) follow(c *cli.Context) (err error) {
	f := &eventStream{program: p, c: c, poll: defaultPoll}
	if err := f.read(); err != nil {
		return err
	}
	if f.set, err = p.One(c); err != nil {
		return err
	}
	if err := f.findWallet(); err != nil {
		return err
	}
	dir, err := daemon.ExistingFolder(f.set)
	if err != nil {
		return err
	}
	if name := c.String("follower"); name != "" {
		if err := f.lockFollower(follower.Of(dir), name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.follower.Release()) }()
	}
	f.out = terminal.NewPage(p.Stdout, p.Colour(), nil)
	f.lines = json.NewEncoder(f.out)
	f.lines.SetEscapeHTML(false)
	if c.Bool("pending") {
		return f.followUnconfirmed()
	}
	if f.file != nil {
		if err := f.withDatabase(f.readValues); err != nil {
			return err
		}
	}
	for {
		seen, err := daemon.Written(dir)
		if err != nil {
			return err
		}
		took, err := f.printNew()
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
func (f *eventStream) read() (err error) {
	c := f.c
	err = command.Exclusive(c, "follow", "and", "or", "unspent", "limit", "after", "order", "height-to", "time-to", "csv")
	if err != nil {
		return err
	}
	f.filter = changes.Filter{Term: query.Term{Index: c.Args().Get(0), Value: c.Args().Get(1)}, Spends: c.Bool("spends")}
	if err := f.readValuesFlags(); err != nil {
		return err
	}
	f.guess = c.NArg() == 1 && f.file == nil
	if err := command.Exclusive(c, "pending", "until-tip", "poll", "confirmations"); err != nil {
		return err
	}
	confirmations, err := command.Number(c, "confirmations", 1, 1, events.MaxConfirmations)
	if err != nil {
		return err
	}
	f.filter.Confirmations = int(confirmations)
	start, err := command.Range(c)
	if err != nil {
		return err
	}
	if start != (query.Range{}) {
		f.filter.Start = &start
	}
	if c.IsSet("follower") {
		if err := follower.CheckName(c.String("follower")); err != nil {
			return err
		}
	}
	if c.IsSet("poll") {
		if f.poll, err = time.ParseDuration(c.String("poll")); err != nil || f.poll < minPoll {
			return command.BadValue(c, "poll", "a duration of at least %v, such as 500ms", minPoll)
		}
	}
	return nil
}

func (f *eventStream) lockFollower(folder follower.Folder, name string) (err error) {
	if f.follower, err = f.holdFollower(f.c, folder, name); err != nil {
		return err
	}
	f.saved, err = folder.Read(name)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		f.saved, err = nil, nil
	}
	if err == nil && f.saved != nil && f.filter.Start != nil {
		err = command.UsageError("bad_value",
			"follower %s already has a position: --height-from and --time-from are only for a new follower", name)
	}
	if err != nil {
		err = errors.Join(err, f.follower.Release())
	}
	return err
}

// printNew prints the new events of the database and returns the time it took to open it.
func (f *eventStream) printNew() (took time.Duration, err error) {
	began := f.Now()
	db, err := f.Host(f.c).OpenReading(f.c.Context, f.set, core.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	took = f.Now().Sub(began)
	if f.guess {
		f.findTerm(db)
	}
	return took, f.printFrom(database{db.Chain(), db.Queries})
}

// database is an open database, or a snapshot of one.
type database struct {
	chain model.Chain
	query.Queries
}

// printFrom prints the new events of a database.
func (f *eventStream) printFrom(db database) (err error) {
	if !f.started {
		f.out.Chain = db.chain
		if f.saved != nil {
			if f.locator, err = pointsOf(db.chain, f.c.String("follower"), f.saved); err != nil {
				return err
			}
			f.filter.Start = nil
		}
	}
	if f.file != nil {
		if err := f.file.values.Extend(f.c.Context, db.Queries); err != nil {
			return err
		}
	}
	for e, err := range changes.Follow(f.c.Context, db.Queries, f.locator, f.filter) {
		if err != nil {
			if f.c.Context.Err() != nil {
				break // interrupted: printed events count
			}
			return errors.Join(err, f.flush(db))
		}
		if err := f.handle(db, e); err != nil {
			return err
		}
	}
	f.filter.Start = nil
	return f.flush(db)
}

// findTerm replaces the only argument, unless it names an index, by the index and the value that it is.
func (f *eventStream) findTerm(db *daemon.Database) {
	f.guess = false
	if isIndex(db, f.filter.Index) {
		return
	}
	r := &request{Context: f.c, ctx: f.c.Context, db: db, queries: db.Queries}
	if index, value, err := r.term(true); err == nil { // else the index is unknown
		f.filter.Term = query.Term{Index: index, Value: value}
	}
}

// handle prints an event and saves the position from time to time.
func (f *eventStream) handle(db database, e changes.Change) error {
	switch {
	case e.Rollback != nil:
		if f.started && *e.Rollback == f.last {
			return nil
		}
		f.started, f.back, f.last = true, true, *e.Rollback
		// The follower moves back before a rollback is printed, and forward after a block is printed: it is never ahead of the
		// client, even if the chain returns to an orphaned branch.
		if err := f.saveFollower(db); err != nil {
			return err
		}
	case e.Block != nil:
		f.last = *e.Block
	}
	f.Printed = true // later errors are not printed as documents
	if !f.JSON {
		showEvent(f.out, e)
	} else if err := f.lines.Encode(e); err != nil {
		return err
	}
	now := f.Now()
	switch {
	case e.Block == nil:
	case f.follower != nil && now.Sub(f.savedAt) >= saveEvery:
		return f.flush(db)
	case now.Sub(f.flushedAt) >= flushEvery:
		f.flushedAt = now
		return f.out.Flush()
	}
	return nil
}

// flush flushes the printed events and saves the position.
func (f *eventStream) flush(db database) error {
	f.flushedAt = f.Now()
	if err := f.out.Flush(); err != nil || !f.started {
		return err
	}
	return f.saveFollower(db)
}

// saveFollower sets the follower, if there is one, to the position after the last block.
func (f *eventStream) saveFollower(db database) (err error) {
	if !f.savedAt.IsZero() && len(f.locator) > 0 && f.locator[0] == f.last {
		return nil
	}
	f.locator, err = changes.Locator(context.WithoutCancel(f.c.Context), db.Queries, f.last)
	if err != nil || f.follower == nil {
		return err
	}
	f.savedAt = f.Now()
	return f.follower.Write(f.followerAt(db.chain, f.locator))
}

// wait waits until something was written to the database in dir since seen.
func (f *eventStream) wait(dir, seen string, pause time.Duration) error {
	for {
		if sleep(f.c.Context, pause) != nil {
			return nil
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
		after := fmt.Sprintf("after block %s  %s", humanize.Count(e.Rollback.Height), e.Hash)
		p.Printf("%s\n", p.Styled(terminal.Bold(after)))
	}
}
