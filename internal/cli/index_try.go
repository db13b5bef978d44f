package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"birthmark/chains/indexexpr"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// tried is the name of the index of an expression that is tried.
const tried = "expression"

func (p *program) indexTryCommand() *cli.Command {
	return &cli.Command{
		Name:      "try",
		Usage:     "show the values that an expression of a custom index finds in the newest blocks",
		ArgsUsage: "EXPRESSION",
		Flags: slices.Concat([]cli.Flag{
			command.String("when", "condition `EXPRESSION` on the outputs"),
			command.StringDefault("kind", "kind of the index, `"+strings.Join(kinds(), "|")+"`", kinds()[0]),
			command.StringDefault("blocks", "read the newest `N` blocks of the database", "10"),
			command.LimitFlag("values"),
		}, command.SourceFlags("`URI` of the source of the blocks"), command.DatabaseFlags()),
		Action: p.indexTry,
	}
}

func kinds() (names []string) {
	for k := model.Kind(0); k.Valid(); k++ {
		names = append(names, k.String())
	}
	return names
}

type indexTryAnswer struct {
	Blocks  int       `json:"blocks"`
	Outputs int       `json:"outputs"` // in these blocks
	Found   int       `json:"found"`   // values
	Values  []tryItem `json:"values"`  // the first ones, at most --limit

	Notes []indexexpr.Note `json:"notes"` // reasons of outputs without a value
}

// tryItem is a value that the expression finds.
type tryItem struct {
	Value  string `json:"value"`
	Tx     string `json:"tx"`
	Index  int    `json:"index"`
	Height uint32 `json:"height"`
}

func (p *program) indexTry(c *cli.Context) error {
	d := model.Definition{Name: tried, Value: c.Args().First(), When: c.String("when")}
	if c.IsSet("kind") {
		i := slices.Index(kinds(), c.String("kind"))
		if i < 0 {
			return command.BadValue(c, "kind", "%s", strings.Join(kinds(), ", "))
		}
		d.Kind = model.Kind(i)
	}
	blocks, err := command.Number(c, "blocks", 10, 1, 10_000)
	if err != nil {
		return err
	}
	limit, err := command.Number(c, "limit", query.DefaultLimit, 1, query.MaxLimit)
	if err != nil {
		return err
	}
	set, err := p.One(c)
	if err != nil {
		return err
	}
	if set.Source == "" {
		return daemon.MissingSource("the expression")
	}
	set.Indexes = nil
	return p.ReadChain(c, set, core.Options{}, func(db *daemon.Database) error {
		a := &indexTryAnswer{Values: []tryItem{}}
		notes, err := p.readNewest(c, set, db, d, int(blocks), func(b *decodedBlock) { a.add(b, int(limit)) })
		if err != nil {
			return err
		}
		a.Notes = notes
		return p.Answer(db.Chain(), a, func(page *terminal.Page) { showTried(page, a) })
	})
}

// readNewest passes the newest blocks of the database, with the values of a custom index, to do. It returns why outputs
// have no value.
func (p *program) readNewest(
	c *cli.Context, set *config.Chain, db *daemon.Database, d model.Definition, blocks int, do func(*decodedBlock),
) (notes []indexexpr.Note, err error) {
	chain, err := db.Chain().Define([]model.Definition{d})
	if err != nil {
		return nil, err
	}
	collected := new(indexexpr.Notes)
	if of, ok := chain.(interface{ Custom() *indexexpr.Indexes }); ok {
		collected = of.Custom().Explain()
	}
	var known []model.Point // the block before the first one, and its ancestors; none: all blocks
	tip := db.Tip().Height
	if before := int(tip) - blocks; before >= 0 {
		if known, err = ancestors(c.Context, db, model.HeightPk(before)); err != nil {
			return nil, err
		}
	}
	indexes := []string{tried}
	src, err := p.Host(c).OpenSource(c.Context, set, chain, model.SourceOptions{
		Indexes: indexes, Known: known, Header: db.Header, To: &tip,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	for e, err := range src.Follow(c.Context, known) {
		if err != nil {
			return nil, err
		}
		if e.Block == nil {
			continue
		}
		b, err := describeBlock(chain, indexes, e.Block)
		if err != nil {
			return nil, err
		}
		do(b)
	}
	return collected.List(), nil
}

func ancestors(ctx context.Context, db *daemon.Database, h model.HeightPk) (points []model.Point, err error) {
	point, err := db.PointAt(ctx, h)
	if err != nil {
		return nil, err
	}
	return db.Ancestors(ctx, point, 10)
}

// add adds the values of a block, up to a limit of listed values.
func (a *indexTryAnswer) add(b *decodedBlock, limit int) {
	a.Blocks++
	for _, tx := range b.Txs {
		for _, o := range tx.Outputs {
			a.Outputs++
			key, ok := o.Keys[tried]
			if !ok {
				continue
			}
			values, several := key.([]string)
			if !several {
				values = []string{fmt.Sprint(key)}
			}
			for _, value := range values {
				if a.Found++; len(a.Values) < limit {
					a.Values = append(a.Values, tryItem{value, tx.Hash, o.Index, b.Height})
				}
			}
		}
	}
}

func showTried(p *terminal.Page, a *indexTryAnswer) {
	p.Fields("blocks", a.Blocks, "outputs", a.Outputs, "values found", a.Found)
	if len(a.Notes) > 0 {
		p.Heading("outputs without a value")
	}
	terminal.Table(p, a.Notes, []string{"times", "reason"}, func(_ int, n indexexpr.Note) terminal.Cells {
		return terminal.Cells{n.Times, n.Reason}
	})
	if len(a.Values) > 0 {
		p.Heading("values")
	}
	terminal.Table(p, a.Values, []string{"block", "value", "output"}, func(_ int, v tryItem) terminal.Cells {
		return terminal.Cells{v.Height, terminal.Foreign(v.Value), terminal.Faint(query.OutputRef(v.Tx, v.Index))}
	})
	if a.Found > len(a.Values) {
		p.Printf("\n%s more: --limit shows up to %s\n", humanize.Count(a.Found-len(a.Values)), humanize.Count(query.MaxLimit))
	}
}
