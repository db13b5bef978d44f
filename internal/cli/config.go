package cli

import (
	"encoding/json"
	"slices"

	"birthmark/chains"
	"birthmark/internal/cli/command"
	"birthmark/internal/config"
	"birthmark/internal/daemon"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"
)

func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name:     "config",
		Usage:    "print the effective settings, including defaults",
		Category: standalone,
		Flags: slices.Concat([]cli.Flag{
			command.Bool("schema", "print the JSON Schema of settings files, for editors"),
			command.String("listen", "`ADDRESS` of the server"),
		}, command.SourceFlags("`URI` of the source of the blocks"), command.WriteFlags(), serverFlags(), command.DatabaseFlags()),
		Action: p.config,
	}
}

func (p *program) config(c *cli.Context) error {
	if c.Bool("schema") {
		e := json.NewEncoder(p.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(config.Schema(chains.Names()))
	}
	view, err := p.view(c)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.Document(view)
	}
	e := yaml.NewEncoder(p.Stdout)
	e.SetIndent(2)
	if err := e.Encode(view); err != nil {
		return err
	}
	return e.Close()
}

// view returns the settings of all chains, or of the chain that flags and environment select.
func (p *program) view(c *cli.Context) (*config.View, error) {
	sets, err := p.Several(c)
	if err != nil {
		return nil, err
	}
	v := p.Settings.View()
	for _, set := range sets {
		if set.Chain == "" { // the database determines its chain
			v.Chains = append(v.Chains, set.View("", nil))
			continue
		}
		chain, err := p.Host(c).Chain(set)
		if err != nil {
			return nil, err
		}
		if _, err := daemon.IndexesOf(set, chain); err != nil {
			return nil, err
		}
		v.Chains = append(v.Chains, set.View(chain.Network(), daemon.Chosen(chain, nil)))
	}
	return v, nil
}
