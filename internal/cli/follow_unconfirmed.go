package cli

import (
	"errors"
	"fmt"

	"birthmark/core/pending/answers"
	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
)

// followUnconfirmed prints events, also those of unconfirmed transactions, until it is interrupted.
func (f *eventStream) followUnconfirmed() (err error) {
	ctx := f.c.Context
	switch {
	case f.guess:
		err = f.withDatabase(func(db *daemon.Database) error { f.findTerm(db); return nil })
	case f.file != nil:
		err = f.withDatabase(f.readValues)
	}
	if err != nil {
		return err
	}
	chain, stop, err := f.Host(f.c).Watch(ctx, f.set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	watch := &answers.Watch{Follower: chain.Mempool, View: chain.View, List: f.filter.List, Spends: f.filter.Spends}
	if f.file == nil {
		watch.Terms = []query.Term{f.filter.Term}
	}
	for {
		_, moved := chain.Moved()
		err := chain.View(ctx, func(v *query.View) error { return f.printFrom(database{chain.Model, v.Queries}) })
		if f.back {
			watch.Reset()
			f.back = false
		}
		if err == nil {
			_, err = watch.Next(ctx, f.last, f.printUnconfirmed)
		}
		if err == nil {
			err = f.out.Flush()
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-moved:
		case <-watch.Moved():
		case <-ctx.Done():
			return nil
		}
	}
}

// printUnconfirmed prints an event of unconfirmed transactions. It always has room for more.
func (f *eventStream) printUnconfirmed(e answers.Event) (full bool, err error) {
	f.Printed = true
	if f.JSON {
		return false, f.lines.Encode(e)
	}
	showUnconfirmed(f.out, e)
	return false, nil
}

// showUnconfirmed prints an event of unconfirmed transactions as lines of text.
func showUnconfirmed(p *terminal.Page, e answers.Event) {
	switch {
	case e.Pending != nil:
		for _, o := range e.Pending.Outputs {
			p.Printf("%s %s  %s:%d  unconfirmed\n", p.Styled(terminal.Faint("+")), p.Amount(o.Value), o.Tx, o.Index)
		}
		for _, s := range e.Pending.Spends {
			by := fmt.Sprintf("spent by %s input %d, unconfirmed", s.SpentBy.Tx, s.SpentBy.Input)
			p.Printf("%s %s:%d  %s\n", p.Styled(terminal.Faint("-")), s.Tx, s.Index, p.Styled(terminal.Faint(by)))
		}
	case e.Gone != nil:
		why := e.Gone.Reason
		switch {
		case e.Gone.By != "":
			why += " by " + e.Gone.By
		case e.Gone.Block != nil:
			why += " with block " + humanize.Count(e.Gone.Block.Height)
		}
		p.Printf("%s %s  gone: %s\n", p.Styled(terminal.Faint("x")), e.Gone.Tx, why)
	case e.Mempool.Reset:
		p.Printf("%s\n", p.Styled(terminal.Faint("all unconfirmed transactions:")))
	default:
		text := humanize.Plural(e.Mempool.Count, "unconfirmed transaction") + ", mempool " + e.Mempool.State
		p.Printf("%s\n", p.Styled(terminal.Faint(text)))
	}
}
