package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/internal/cli/command"
	"birthmark/internal/daemon"
	"birthmark/model"
)

func (p *program) decodeCommand() *cli.Command {
	return &cli.Command{
		Name:      "decode",
		Usage:     "decode raw blocks to JSON, without a database",
		ArgsUsage: "FILE|-",
		Category:  standalone,
		Flags: slices.Concat(command.ChainFlags(), []cli.Flag{
			command.IndexFlag(),
			command.StringDefault("height", "height `H` of the first block, if the input does not contain it", "0"),
		}, command.CommonFlags(), command.ProfileFlags()),
		Action: command.Profiled(p.decode),
	}
}

func (p *program) decode(c *cli.Context) (err error) {
	first, err := command.Height(c, "height")
	if err != nil {
		return err
	}
	if first == nil {
		first = new(model.HeightPk)
	}
	set, err := p.One(c)
	if err != nil {
		return err
	}
	chain, err := p.Host(c).Chain(set)
	if err != nil {
		return err
	}
	names, err := daemon.IndexesOf(set, chain)
	if err != nil {
		return err
	}
	indexes := daemon.Chosen(chain, names)
	in := p.Stdin
	if name := c.Args().First(); name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return model.Errorf(model.BadSource, "no_file", "%w", err)
		}
		defer f.Close()
		in = f
	}
	out := bufio.NewWriterSize(p.Stdout, 1<<16)
	defer func() { err = errors.Join(err, out.Flush()) }()
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	blocks := 0
	for b, err := range chain.Decode(c.Context, bufio.NewReaderSize(in, 1<<16), indexes, *first) {
		if err == nil {
			err = c.Context.Err()
		}
		if err != nil {
			return err
		}
		decoded, err := describeBlock(chain, indexes, b)
		if err != nil {
			return err
		}
		if err := e.Encode(decoded); err != nil {
			return err
		}
		blocks++
	}
	if blocks == 0 {
		return model.Errorf(model.BadSource, "no_block", "%s contains no block", c.Args().First())
	}
	return nil
}
