package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core/query/changes"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/cursor"
	"birthmark/internal/humanize"
	"birthmark/model"
)

func (p *program) cursorCommand() *cli.Command {
	return &cli.Command{
		Name:     "cursor",
		Usage:    "manage the saved positions of find --follow clients",
		Category: querying,
		Subcommands: []*cli.Command{
			queryCommand(p, cli.Command{
				Name:      "set",
				Usage:     "set a cursor to the position after a block, creating it if needed",
				ArgsUsage: "NAME HEIGHT|HASH|tip|origin",
			}, p.setCursor, showCursor),
			queryCommand(p, cli.Command{
				Name:      "get",
				Usage:     "show the position of a cursor and its distance to the tip",
				ArgsUsage: "NAME",
			}, func(r *request) (*cursorAnswer, error) { return cursorAnswerOf(r, r.arg(0)) }, showCursor),
			queryCommand(p, cli.Command{
				Name:  "list",
				Usage: "list all cursors",
			}, listCursors, func(page *terminal.Page, a cursorsAnswer) { showCursors(page, a.Cursors) }),
			queryCommand(p, cli.Command{
				Name:      "delete",
				Usage:     "delete a cursor",
				ArgsUsage: "NAME",
			}, p.deleteCursor, func(page *terminal.Page, a deletedAnswer) { page.Fields("deleted", a.Deleted) }),
		},
	}
}

// cursorAnswer is the position of a cursor. At is null before the first block.
type cursorAnswer struct {
	Name      string        `json:"name"`
	At        *cursor.Block `json:"at"`
	ResumesAt *cursor.Block `json:"resumes_at"` // below At if a reorganization removed At
	Behind    uint64        `json:"behind"`     // blocks between that and the tip
	Updated   int64         `json:"updated"`
}

type cursorsAnswer struct {
	Cursors []*cursorAnswer `json:"cursors"`
}

func cursorAnswerOf(r *request, name string) (*cursorAnswer, error) {
	saved, err := cursor.Of(r.db.Dir).Read(name)
	if err != nil {
		return nil, err
	}
	known, err := pointsOf(r.db.Chain(), name, saved)
	if err != nil {
		return nil, err
	}
	from, behind, err := changes.Start(r.ctx, r.db.Queries, known)
	if err != nil {
		return nil, err
	}
	a := &cursorAnswer{Name: name, Updated: saved.Updated, Behind: behind}
	if len(saved.Blocks) > 0 {
		a.At = &saved.Blocks[0]
	}
	if !from.IsOrigin() {
		a.ResumesAt = &cursor.Block{Height: uint32(from.Height), Hash: r.db.Chain().FormatHash(from.Hash)}
	}
	return a, nil
}

// pointsOf returns the blocks of a cursor, or an error if it belongs to another chain.
func pointsOf(chain model.Chain, name string, c *cursor.Cursor) ([]model.Point, error) {
	if c.Chain != chain.Name() || c.Network != chain.Network() {
		return nil, model.Errorf(model.Refused, "wrong_chain",
			"cursor %s belongs to %s %s, the database contains %s %s: delete or set the cursor", name, c.Chain, c.Network, chain.Name(), chain.Network())
	}
	var points []model.Point
	for _, b := range c.Blocks {
		hash, err := chain.ParseHash(b.Hash)
		if err != nil {
			return nil, cursor.Damaged(name, fmt.Errorf("block %d: %w", b.Height, err))
		}
		points = append(points, model.Point{Height: model.HeightPk(b.Height), Hash: hash})
	}
	return points, nil
}

// cursorAt returns a cursor after the newest of points, which [core.DB.FollowLocator] returned.
func (p *program) cursorAt(chain model.Chain, points []model.Point) *cursor.Cursor {
	c := &cursor.Cursor{Chain: chain.Name(), Network: chain.Network(), Updated: p.Now().Unix(), Blocks: []cursor.Block{}}
	for _, at := range points {
		c.Blocks = append(c.Blocks, cursor.Block{Height: uint32(at.Height), Hash: chain.FormatHash(at.Hash)})
	}
	return c
}

// holdCursor locks a cursor for this process.
func (p *program) holdCursor(c *cli.Context, f cursor.Folder, name string) (*cursor.Held, error) {
	now := p.Now().UTC().Format(time.RFC3339)
	return f.Hold(name, fmt.Sprintf("pid %d, %s, since %s", os.Getpid(), command.Name(c), now))
}

func (p *program) setCursor(r *request) (*cursorAnswer, error) {
	name, to := r.arg(0), r.arg(1)
	var point model.Point
	if to != "origin" {
		block, err := r.db.Block(r.ctx, to)
		if err != nil {
			return nil, err
		}
		if point, err = r.db.PointAt(r.ctx, model.HeightPk(block.Height)); err != nil {
			return nil, err
		}
	}
	points, err := changes.Locator(r.ctx, r.db.Queries, point)
	if err != nil {
		return nil, err
	}
	held, err := p.holdCursor(r.Context, cursor.Of(r.db.Dir), name)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(held.Write(p.cursorAt(r.db.Chain(), points)), held.Release()); err != nil {
		return nil, err
	}
	return cursorAnswerOf(r, name)
}

func listCursors(r *request) (a cursorsAnswer, err error) {
	names, err := cursor.Of(r.db.Dir).List()
	if err != nil {
		return a, err
	}
	a.Cursors = make([]*cursorAnswer, len(names))
	for i, name := range names {
		if a.Cursors[i], err = cursorAnswerOf(r, name); err != nil {
			return a, err
		}
	}
	return a, nil
}

type deletedAnswer struct {
	Deleted string `json:"deleted"`
}

func (p *program) deleteCursor(r *request) (deletedAnswer, error) {
	name, folder := r.arg(0), cursor.Of(r.db.Dir)
	if _, err := folder.Read(name); err != nil {
		if kind, _ := model.KindOf(err); kind != model.Refused { // a damaged cursor can be deleted
			return deletedAnswer{}, err
		}
	}
	held, err := p.holdCursor(r.Context, folder, name)
	if err != nil {
		return deletedAnswer{}, err
	}
	return deletedAnswer{name}, errors.Join(held.Remove(), held.Release())
}

func showCursor(p *terminal.Page, a *cursorAnswer) { showCursors(p, []*cursorAnswer{a}) }

func showCursors(p *terminal.Page, cursors []*cursorAnswer) {
	p.IfNone(len(cursors), "no cursors")
	columns := []string{"cursor", "after block", "blocks left", "updated", ""}
	terminal.Table(p, cursors, columns, func(_ int, c *cursorAnswer) terminal.Cells {
		var at any = terminal.Faint("origin")
		if c.At != nil {
			at = humanize.Count(c.At.Height) + "  " + c.At.Hash
		}
		note := ""
		switch {
		case c.At != nil && c.ResumesAt == nil:
			note = "orphaned: resumes from the origin"
		case c.At != nil && *c.At != *c.ResumesAt:
			note = "reorganization: resumes from block " + humanize.Count(c.ResumesAt.Height)
		}
		return terminal.Cells{terminal.Bold(c.Name), at, c.Behind, humanize.Clock(c.Updated), terminal.Yellow(note)}
	})
}
