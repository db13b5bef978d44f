package cli

import (
	"errors"
	"os"
	"strings"

	"birthmark/api/watchlist"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/cli/command"
	"birthmark/internal/daemon"
	"birthmark/model"
)

// valuesFile is the file of find --follow --values-file, or the wallet of find --follow INDEX VALUE.
type valuesFile struct {
	path, index string
	wallet      string // instead of a file
	gap         int
	values      *watchlist.Values // once it was read
}

// readValuesFlags reads --values-file and --gap. INDEX is the only argument that they allow.
func (f *eventStream) readValuesFlags() error {
	c := f.c
	if !c.IsSet(command.ValuesFile) {
		return nil
	}
	if c.NArg() > 1 {
		return command.UsageError("bad_value", "--values-file and VALUE cannot be combined: write the value into the file")
	}
	gap, err := command.Gap(c)
	if err != nil {
		return err
	}
	f.file = &valuesFile{path: c.String(command.ValuesFile), index: watchlist.DefaultIndex, gap: gap}
	if c.NArg() == 1 {
		f.file.index = c.Args().First()
	}
	f.filter.Term = query.Term{}
	return nil
}

// findWallet makes a list of the values of an extended public key or a descriptor, if that is the argument VALUE.
func (f *eventStream) findWallet() error {
	term := f.filter.Term
	if f.guess {
		term = query.Term{Index: schema.HoldersIndex, Value: term.Index}
	}
	if f.file != nil || term.Value == "" {
		return nil
	}
	var chain model.Chain
	var err error
	if f.set.Chain != "" {
		chain, err = f.Host(f.c).Chain(f.set)
	} else {
		err = f.withDatabase(func(db *daemon.Database) error { chain = db.Chain(); return nil })
	}
	if err != nil {
		return err
	}
	w, err := model.WalletOf(chain, term.Index, term.Value)
	if err == nil && w == nil && f.c.IsSet("gap") {
		err = command.UsageError("missing_flag", "--gap needs --values-file, or an extended public key or a descriptor as VALUE")
	}
	if err != nil || w == nil {
		return err
	}
	gap, err := command.Gap(f.c)
	f.file, f.filter.Term, f.guess = &valuesFile{index: term.Index, wallet: term.Value, gap: gap}, query.Term{}, false
	return err
}

// readValues reads the file into the filter.
func (f *eventStream) readValues(db *daemon.Database) (err error) {
	in := f.Stdin
	if f.file.wallet != "" {
		in = strings.NewReader(f.file.wallet)
	} else if f.file.path != "-" {
		file, err := os.Open(f.file.path)
		if err != nil {
			return command.UsageError("bad_value", "--values-file: %w", err)
		}
		defer file.Close()
		in = file
	}
	v, err := watchlist.NewValues(f.c.Context, db.Queries, f.file.index, f.file.gap)
	if err == nil {
		err = v.Read(in, f.c.Context.Err)
	}
	if err != nil && f.file.wallet != "" {
		return err
	}
	if err != nil {
		return daemon.At(f.file.path, err)
	}
	if values, accounts := v.Count(); values+accounts == 0 {
		return command.UsageError("bad_value", "%s has no values: expected one per line", f.file.path)
	}
	f.file.values, f.filter.List = v, v.List()
	return nil
}

// withDatabase opens the database for a moment.
func (f *eventStream) withDatabase(use func(db *daemon.Database) error) error {
	db, err := f.Host(f.c).OpenReading(f.c.Context, f.set, core.Options{})
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close())
}
