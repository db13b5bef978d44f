package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoincash"
	"birthmark/chains/bitcoinsv"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/chains/litecoin"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// defaultSettings is the file that init writes.
const defaultSettings = "birthmark.yaml"

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a settings file with comments",
		ArgsUsage: "[FILE]",
		Category:  building,
		Flags: slices.Concat(
			[]cli.Flag{command.String("listen", "`ADDRESS` of the server")},
			command.SourceFlags("`URI` of the source of the blocks (default: p2p:// for Bitcoin, Litecoin, Bitcoin Cash and BSV, a public relay for Cardano, a node on this machine for Ergo)"),
			command.WriteFlags(), serverFlags(), command.DatabaseFlags()),
		Action: p.init,
	}
}

// publicSources are sources that need no set-up, by chain and network; Ergo has none, and needs a node.
var publicSources = map[string]map[string]string{
	bitcoin.Name:          {"mainnet": "p2p://", "testnet3": "p2p://", "testnet4": "p2p://", "signet": "p2p://"},
	litecoin.Spec.Name:    {"mainnet": "p2p://", "testnet4": "p2p://"},
	bitcoincash.Spec.Name: {"mainnet": "p2p://", "testnet3": "p2p://", "testnet4": "p2p://", "chipnet": "p2p://"},
	bitcoinsv.Spec.Name:   {"mainnet": "p2p://", "testnet": "p2p://", "stn": "p2p://"},
	cardano.Name: {
		"mainnet": "tcp://backbone.cardano.iog.io:3001",
		"preprod": "tcp://preprod-node.play.dev.cardano.org:3001",
		"preview": "tcp://preview-node.play.dev.cardano.org:3001",
	},
	ergo.Name: {"mainnet": "http://127.0.0.1:9053", "testnet": "http://127.0.0.1:9052"},
}

// rawCosts are what raw transactions cost by the setting raw.
var rawCosts = map[config.Raw]string{
	config.RawKeep:  "stored: about as many bytes as the blocks",
	config.RawFiles: "read from the node's block files: about 2 bytes each in the database",
	config.RawNode:  "requested from the node: nothing in the database",
}

type initAnswer struct {
	File string `json:"file"`
}

func (p *program) init(c *cli.Context) error {
	if c.IsSet("config") {
		return command.UsageError("bad_value", "init reads no settings file: expected birthmark init [FILE] [flags]")
	}
	settings, given := config.Default(), map[string]string{"chain": bitcoin.Name}
	settings.DataFolder = config.DataFolder(p.LookupEnv, os.Geteuid() == 0)
	for _, o := range command.FlagSettings(c) {
		if err := settings.Override(o); err != nil {
			return err
		}
		given[o.Key] = o.Value
	}
	if err := settings.Check(); err != nil {
		return err
	}
	set, err := settings.One() // checks the values
	if err != nil {
		return err
	}
	set.Chain = given["chain"]
	chain, err := p.Host(c).Chain(set)
	if err != nil {
		return err
	}
	given["network"] = cmp.Or(set.Network, chain.Network())
	if source := publicSources[chain.Name()][chain.Network()]; given["source"] == "" && source != "" {
		given["source"] = source
	}
	if given["db"], err = daemon.Folder(set); err != nil {
		return err
	}
	set.Source = given["source"]
	if _, err := p.Host(c).Chain(set); err != nil { // the source decides about raw transactions
		return err
	}
	if set.RawImplied {
		given["raw"] = string(set.Raw)
	}
	text, err := config.Example(given)
	if err != nil {
		return err
	}
	file := cmp.Or(c.Args().First(), defaultSettings)
	if file == "-" {
		_, err := fmt.Fprint(p.Stdout, text)
		return err
	}
	if err := writeNew(file, text); err != nil {
		return err
	}
	return p.Answer(nil, initAnswer{file}, func(page *terminal.Page) {
		page.Fields("written", file, "raw transactions", rawCosts[set.Raw], "next", "birthmark serve --config "+file)
	})
}

// writeNew writes a file that must not exist.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return model.Errorf(model.Refused, "file_exists", "%s exists: pass another name, such as birthmark init %s",
			path, filepath.Join(filepath.Dir(path), "birthmark-2.yaml"))
	}
	if err != nil {
		return command.UsageError("bad_value", "cannot write the settings: %w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
