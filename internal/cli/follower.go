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
	"birthmark/internal/follower"
	"birthmark/internal/humanize"
	"birthmark/model"
)

func (p *program) followerCommand() *cli.Command {
	return &cli.Command{
		Name:     "follower",
		Usage:    "manage the saved positions of find --follow clients",
		Category: querying,
		Subcommands: []*cli.Command{
			queryCommand(p, cli.Command{
				Name:      "set",
				Usage:     "set a follower to the position after a block, creating it if needed",
				ArgsUsage: "NAME HEIGHT|HASH|tip|origin",
			}, p.setFollower, showFollower),
			queryCommand(p, cli.Command{
				Name:      "get",
				Usage:     "show the position of a follower and its distance to the tip",
				ArgsUsage: "NAME",
			}, func(r *request) (*followerAnswer, error) { return followerAnswerOf(r, r.arg(0)) }, showFollower),
			listCommand(p, cli.Command{
				Name:  "list",
				Usage: "list all followers",
			}, listFollowers, func(page *terminal.Page, a followersAnswer) { showFollowers(page, a.Followers) },
				func(a followersAnswer) ([]*followerAnswer, *string) { return a.Followers, nil }),
			queryCommand(p, cli.Command{
				Name:      "delete",
				Usage:     "delete a follower",
				ArgsUsage: "NAME",
			}, p.deleteFollower, func(page *terminal.Page, a deletedAnswer) { page.Fields("deleted", a.Deleted) }),
		},
	}
}

// followerAnswer is the position of a follower. At is null before the first block.
type followerAnswer struct {
	Name      string          `json:"name"`
	At        *follower.Block `json:"at"`
	ResumesAt *follower.Block `json:"resumes_at"` // below At if a reorganization removed At
	Behind    uint64          `json:"behind"`     // blocks between that and the tip
	Updated   int64           `json:"updated"`
}

type followersAnswer struct {
	Followers []*followerAnswer `json:"followers"`
}

func followerAnswerOf(r *request, name string) (*followerAnswer, error) {
	saved, err := follower.Of(r.db.Dir).Read(name)
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
	a := &followerAnswer{Name: name, Updated: saved.Updated, Behind: behind}
	if len(saved.Blocks) > 0 {
		a.At = &saved.Blocks[0]
	}
	if !from.IsOrigin() {
		a.ResumesAt = &follower.Block{Height: uint32(from.Height), Hash: r.db.Chain().FormatHash(from.Hash)}
	}
	return a, nil
}

// pointsOf returns the blocks of a follower, or an error if it belongs to another chain.
func pointsOf(chain model.Chain, name string, c *follower.Position) ([]model.Point, error) {
	if c.Chain != chain.Name() || c.Network != chain.Network() {
		return nil, model.Errorf(model.Refused, "wrong_chain",
			"follower %s belongs to %s %s, the database contains %s %s: delete or set the follower", name, c.Chain, c.Network, chain.Name(), chain.Network())
	}
	var points []model.Point
	for _, b := range c.Blocks {
		hash, err := chain.ParseHash(b.Hash)
		if err != nil {
			return nil, follower.Damaged(name, fmt.Errorf("block %d: %w", b.Height, err))
		}
		points = append(points, model.Point{Height: model.HeightPk(b.Height), Hash: hash})
	}
	return points, nil
}

// followerAt returns a follower after the newest of points, which [core.DB.FollowLocator] returned.
func (p *program) followerAt(chain model.Chain, points []model.Point) *follower.Position {
	c := &follower.Position{Chain: chain.Name(), Network: chain.Network(), Updated: p.Now().Unix(), Blocks: []follower.Block{}}
	for _, at := range points {
		c.Blocks = append(c.Blocks, follower.Block{Height: uint32(at.Height), Hash: chain.FormatHash(at.Hash)})
	}
	return c
}

// holdFollower locks a follower for this process.
func (p *program) holdFollower(c *cli.Context, f follower.Folder, name string) (*follower.Held, error) {
	now := p.Now().UTC().Format(time.RFC3339)
	return f.Hold(name, fmt.Sprintf("pid %d, %s, since %s", os.Getpid(), command.Name(c), now))
}

func (p *program) setFollower(r *request) (*followerAnswer, error) {
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
	held, err := p.holdFollower(r.Context, follower.Of(r.db.Dir), name)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(held.Write(p.followerAt(r.db.Chain(), points)), held.Release()); err != nil {
		return nil, err
	}
	return followerAnswerOf(r, name)
}

func listFollowers(r *request) (a followersAnswer, err error) {
	names, err := follower.Of(r.db.Dir).List()
	if err != nil {
		return a, err
	}
	a.Followers = make([]*followerAnswer, len(names))
	for i, name := range names {
		if a.Followers[i], err = followerAnswerOf(r, name); err != nil {
			return a, err
		}
	}
	return a, nil
}

type deletedAnswer struct {
	Deleted string `json:"deleted"`
}

func (p *program) deleteFollower(r *request) (deletedAnswer, error) {
	name, folder := r.arg(0), follower.Of(r.db.Dir)
	if _, err := folder.Read(name); err != nil {
		if kind, _ := model.KindOf(err); kind != model.Refused { // a damaged follower can be deleted
			return deletedAnswer{}, err
		}
	}
	held, err := p.holdFollower(r.Context, folder, name)
	if err != nil {
		return deletedAnswer{}, err
	}
	return deletedAnswer{name}, errors.Join(held.Remove(), held.Release())
}

func showFollower(p *terminal.Page, a *followerAnswer) { showFollowers(p, []*followerAnswer{a}) }

func showFollowers(p *terminal.Page, followers []*followerAnswer) {
	p.IfNone(len(followers), "no followers")
	columns := []string{"follower", "after block", "blocks left", "updated", ""}
	terminal.Table(p, followers, columns, func(_ int, c *followerAnswer) terminal.Cells {
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
