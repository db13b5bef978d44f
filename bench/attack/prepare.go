package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"birthmark/bench/generate"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
)

// Options configure [Prepare] and [Start].
type Options struct {
	Program []string  // the command line of birthmark without arguments
	Env     []string  // in addition to that of this process
	Dir     string    // of the databases
	Log     io.Writer // of the program

	Txs, Unconfirmed int    // transactions that pay to the hot script of Bitcoin: in blocks, and unconfirmed ones
	Cardano, Ergo    int    // transactions
	Memory           string // the setting memory
	Costs            bool   // for [Server.Costs]: the server logs each request
}

// made describes the databases of a folder.
type made struct {
	Txs, Unconfirmed, Cardano, Ergo int
	Address                         string // that the most outputs of Cardano pay to
	Asset                           string // that the most outputs of Cardano hold
}

const madeFile = "attack.json"

// Prepare creates the databases in o.Dir, unless they exist.
func Prepare(ctx context.Context, o Options) error {
	want := made{Txs: o.Txs, Unconfirmed: o.Unconfirmed, Cardano: o.Cardano, Ergo: o.Ergo}
	if have, err := o.made(); err == nil {
		have.Address, have.Asset = "", ""
		if have != want {
			return fmt.Errorf("%s has databases of other sizes: %+v, expected %+v: use another folder", o.Dir, have, want)
		}
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if found, err := os.ReadDir(o.Dir); len(found) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is not empty and has no %s: use another folder", o.Dir, madeFile), err)
	}
	uri, err := makeBitcoin(o.Txs, o.Unconfirmed).write(o.blocks(bitcoin.Name))
	if err != nil {
		return err
	}
	if err := o.sync(ctx, bitcoin.Name, generate.Networks[bitcoin.Name], uri, "wallet,explorer"); err != nil {
		return err
	}
	for _, c := range []struct {
		name, indexes string
		txs           int
	}{{cardano.Name, "kupo,blockfrost,explorer", o.Cardano}, {ergo.Name, "ergo_node,explorer", o.Ergo}} {
		f, err := generate.Write(ctx, c.name, o.blocks(c.name), generate.Options{Seed: 1, Txs: c.txs}, nil)
		if err != nil {
			return err
		}
		if c.name == cardano.Name {
			want.Address, want.Asset = f.Address, f.Asset
		}
		if err := o.sync(ctx, c.name, f.Network, "file://"+f.Path, c.indexes); err != nil {
			return err
		}
	}
	text, err := json.Marshal(want)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.Dir, madeFile), text, 0o644)
}

func (o Options) made() (m made, err error) {
	text, err := os.ReadFile(filepath.Join(o.Dir, madeFile))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

func (o Options) blocks(chain string) string   { return filepath.Join(o.Dir, "blocks-"+chain) }
func (o Options) database(chain string) string { return filepath.Join(o.Dir, "db-"+chain) }

// sync creates the database of a chain.
func (o Options) sync(ctx context.Context, chain, network, source, indexes string) error {
	cmd := o.command(ctx, "sync", "--chain", chain, "--network", network, "--source", source, "--db", o.database(chain),
		"--index", indexes, "--raw", "--quiet")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w", cmd.Args, err)
	}
	return nil
}

func (o Options) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, o.Program[0], append(o.Program[1:len(o.Program):len(o.Program)], args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), o.Env...), o.Log
	return cmd
}
