package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"birthmark/chains"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/model"

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
			command.Bool("check", "list what the settings need and the databases lack, nodes that do not answer, and addresses that are in use"),
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
	if c.Bool("check") {
		return p.checkSettings(c)
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

// checkedChain is a chain of config --check.
type checkedChain struct {
	*daemon.Lacks
	Error       string   `json:"error,omitempty"`       // it could not be compared
	Unreachable []string `json:"unreachable,omitempty"` // errors of its source and of its node
}

// checkSettings lists everything that the settings need and the chains lack.
func (p *program) checkSettings(c *cli.Context) error {
	sets, err := p.Several(c)
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		return command.UsageError("missing_flag",
			"no chain to check: expected --chain, --db DIR, or chains in the settings (--config FILE)")
	}
	a := struct {
		OK     bool           `json:"ok"`
		Chains []checkedChain `json:"chains"`
		Listen []string       `json:"listen,omitempty"` // errors of addresses of the server
	}{OK: true}
	h, faults := p.Host(c), 0
	texts := func(errs []error) (texts []string) {
		for _, err := range errs {
			texts = append(texts, h.ErrorText(err))
		}
		faults += len(texts)
		return texts
	}
	for _, set := range sets {
		l, err := h.CheckNeeds(c.Context, set)
		checked := checkedChain{Lacks: l}
		if err != nil {
			checked.Lacks = &daemon.Lacks{Chain: set.Chain, DB: cmp.Or(set.DB, set.DefaultDB())}
			checked.Error = h.ErrorText(err)
			faults++
		}
		checked.Unreachable = texts(h.CheckNodes(c.Context, set))
		checked.Unreachable = slices.DeleteFunc(checked.Unreachable, func(text string) bool {
			if text == checked.Error {
				faults--
			}
			return text == checked.Error
		})
		faults += len(checked.Missing)
		a.Chains = append(a.Chains, checked)
	}
	listen := ""
	if p.Settings.Origin("listen") != "" {
		listen = p.Settings.Listen
	}
	a.Listen = texts(daemon.CheckAddresses(c.Context, listen, sets))
	a.OK = faults == 0
	err = p.Answer(nil, a, func(page *terminal.Page) {
		for i, checked := range a.Chains {
			if i > 0 {
				page.Printf("\n")
			}
			showChecked(page, &checked)
		}
		showErrors(page, "addresses of the server", a.Listen)
	})
	if err == nil && !a.OK {
		err = model.Errorf(model.Internal, "faults_found", "the check found %s", humanize.Plural(faults, "problem"))
	}
	return err
}

func showErrors(page *terminal.Page, title string, errs []string) {
	if len(errs) > 0 {
		page.Heading(title)
		page.Printf("  %s\n", strings.Join(errs, "\n  "))
	}
}

func showChecked(page *terminal.Page, c *checkedChain) {
	verdict := terminal.Green("the settings have all that they need")
	switch {
	case c.Error != "" || len(c.Missing) > 0:
		verdict = terminal.Red(cmp.Or(c.Error, humanize.Plural(len(c.Missing), "thing")+" missing"))
	case len(c.Unreachable) > 0:
		verdict = terminal.Red("the source or the node does not answer")
	}
	db := c.DB
	if !c.Exists && c.Error == "" {
		db += " (does not exist yet)"
	}
	page.Fields("chain", c.Chain, "db", db, "check", verdict)
	showErrors(page, "source and node", c.Unreachable)
	for _, part := range []struct {
		title string
		lacks []daemon.Lack
	}{{"missing", c.Missing}, {"missing for some answers", c.Optional}} {
		if len(part.lacks) == 0 {
			continue
		}
		page.Heading(part.title)
		for _, x := range part.lacks {
			page.Printf("%s\n", strings.Join(x.Lines(), "\n"))
		}
	}
}
