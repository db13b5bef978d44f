package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core/query/changes"
	"birthmark/internal/cursor"
	"birthmark/internal/daemon"
	"birthmark/model"
)

func (p *program) cursorCommand() *cli.Command {
	return &cli.Command{
		Name:     "cursor",
		Usage:    "manage the saved positions of find --follow clients",
		Category: asking,
		Description: "A cursor is a named position after a block. find --follow --cursor NAME continues from it and advances it. Cursors are\n" +
			"files in the folder of the database and can be changed while another process writes the database.",
		Subcommands: []*cli.Command{
			p.cursorQuery(cli.Command{
				Name:      "set",
				Usage:     "set a cursor to the position after a block, creating it if needed",
				ArgsUsage: "NAME HEIGHT|HASH|tip|origin",
			}, p.setCursor),
			p.cursorQuery(cli.Command{
				Name:      "get",
				Usage:     "show the position of a cursor and its distance to the tip",
				ArgsUsage: "NAME",
			}, func(ctx context.Context, c *cli.Context, db *daemon.Database, f cursor.Folder) (any, func(*page), error) {
				a, err := cursorAnswerOf(ctx, db, f, c.Args().First())
				return a, func(pg *page) { pg.cursors([]*cursorAnswer{a}) }, err
			}),
			p.cursorQuery(cli.Command{
				Name:  "list",
				Usage: "list all cursors",
			}, listCursors),
			p.cursorQuery(cli.Command{
				Name:      "delete",
				Usage:     "delete a cursor",
				ArgsUsage: "NAME",
			}, p.deleteCursor),
		},
	}
}

// cursorQuery returns a command that reads a database and its cursors.
func (p *program) cursorQuery(c cli.Command, ask func(ctx context.Context, c *cli.Context, db *daemon.Database, f cursor.Folder) (any, func(*page), error)) *cli.Command {
	return p.query(c, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		return ask(ctx, c, db, cursor.Of(db.Dir))
	})
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

func cursorAnswerOf(ctx context.Context, db *daemon.Database, f cursor.Folder, name string) (*cursorAnswer, error) {
	kept, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	known, err := pointsOf(db.Chain(), name, kept)
	if err != nil {
		return nil, err
	}
	from, behind, err := changes.Start(ctx, db.Queries, known)
	if err != nil {
		return nil, err
	}
	a := &cursorAnswer{Name: name, Updated: kept.Updated, Behind: behind}
	if len(kept.Blocks) > 0 {
		a.At = &kept.Blocks[0]
	}
	if !from.IsOrigin() {
		a.ResumesAt = &cursor.Block{Height: uint32(from.Height), Hash: db.Chain().FormatHash(from.Hash)}
	}
	return a, nil
}

// pointsOf returns the blocks of a cursor, or an error if it belongs to another chain.
func pointsOf(chain model.Chain, name string, c *cursor.Cursor) ([]model.Point, error) {
	if c.Chain != chain.Name() || c.Network != chain.Network() {
		return nil, model.Errorf(model.Refused, "wrong_chain", "cursor %s is of %s %s, the database holds %s %s: delete it, or set it again",
			name, c.Chain, c.Network, chain.Name(), chain.Network())
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
	c := &cursor.Cursor{Chain: chain.Name(), Network: chain.Network(), Updated: p.now().Unix(), Blocks: []cursor.Block{}}
	for _, at := range points {
		c.Blocks = append(c.Blocks, cursor.Block{Height: uint32(at.Height), Hash: chain.FormatHash(at.Hash)})
	}
	return c
}

// holdCursor locks a cursor for this process.
func (p *program) holdCursor(c *cli.Context, f cursor.Folder, name string) (*cursor.Held, error) {
	return f.Hold(name, fmt.Sprintf("pid %d, %s, since %s", os.Getpid(), commandName(c), p.now().UTC().Format(time.RFC3339)))
}

func (p *program) setCursor(ctx context.Context, c *cli.Context, db *daemon.Database, f cursor.Folder) (any, func(*page), error) {
	name, to := c.Args().Get(0), c.Args().Get(1)
	var point model.Point
	if to != "origin" {
		block, err := db.Block(ctx, to)
		if err != nil {
			return nil, nil, err
		}
		if point, err = db.PointAt(ctx, model.HeightPk(block.Height)); err != nil {
			return nil, nil, err
		}
	}
	points, err := changes.Locator(ctx, db.Queries, point)
	if err != nil {
		return nil, nil, err
	}
	held, err := p.holdCursor(c, f, name)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(held.Write(p.cursorAt(db.Chain(), points)), held.Release()); err != nil {
		return nil, nil, err
	}
	a, err := cursorAnswerOf(ctx, db, f, name)
	return a, func(pg *page) { pg.cursors([]*cursorAnswer{a}) }, err
}

func listCursors(ctx context.Context, _ *cli.Context, db *daemon.Database, f cursor.Folder) (any, func(*page), error) {
	names, err := f.List()
	if err != nil {
		return nil, nil, err
	}
	a := cursorsAnswer{[]*cursorAnswer{}}
	for _, name := range names {
		one, err := cursorAnswerOf(ctx, db, f, name)
		if err != nil {
			return nil, nil, err
		}
		a.Cursors = append(a.Cursors, one)
	}
	return a, func(pg *page) { pg.cursors(a.Cursors) }, nil
}

// deletedAnswer is the answer of cursor delete.
type deletedAnswer struct {
	Deleted string `json:"deleted"`
}

func (p *program) deleteCursor(_ context.Context, c *cli.Context, _ *daemon.Database, f cursor.Folder) (any, func(*page), error) {
	name := c.Args().First()
	if _, err := f.Read(name); err != nil {
		if kind, _ := model.KindOf(err); kind != model.Refused { // a damaged cursor can be deleted
			return nil, nil, err
		}
	}
	held, err := p.holdCursor(c, f, name)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(held.Remove(), held.Release()); err != nil {
		return nil, nil, err
	}
	return deletedAnswer{name}, func(pg *page) { pg.fields(field{"deleted", text(name)}) }, nil
}

func (p *page) cursors(cs []*cursorAnswer) {
	if len(cs) == 0 {
		p.printf("no cursors\n")
	}
	var rows [][]cell
	for _, c := range cs {
		at, note := cell{"origin", faint}, cell{}
		if c.At != nil {
			at = text(count(c.At.Height) + "  " + c.At.Hash)
		}
		switch {
		case c.At != nil && c.ResumesAt == nil:
			note = cell{"not on this chain any more: resumes from the origin", yellow}
		case c.At != nil && *c.At != *c.ResumesAt:
			note = cell{"reorganization: resumes from block " + count(c.ResumesAt.Height), yellow}
		}
		rows = append(rows, []cell{{c.Name, bold}, at, text(count(c.Behind)), text(clock(c.Updated)), note})
	}
	p.table([]column{{name: "cursor"}, {name: "behind block"}, {"to come", true}, {name: "updated"}, {name: ""}}, rows)
}
