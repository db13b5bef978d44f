package cli

import (
	"errors"
	"os"

	"birthmark/api/watchlist"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/daemon"
)

// valuesFile is the file of find --follow --values-file.
type valuesFile struct {
	path, index string
	gap         int
	values      *watchlist.Values // once it was read
}

// readValuesFlags reads --values-file and --gap. INDEX is the only argument that they allow.
func (f *eventStream) readValuesFlags() error {
	c := f.c
	if !c.IsSet(command.ValuesFile) {
		if c.IsSet("gap") {
			return command.UsageError("missing_flag", "--gap needs --values-file")
		}
		return nil
	}
	if c.NArg() > 1 {
		return command.UsageError("bad_value", "--values-file and VALUE cannot be combined: write the value into the file")
	}
	gap, err := command.Number(c, "gap", watchlist.DefaultGap, 1, watchlist.MaxGap)
	if err != nil {
		return err
	}
	f.file = &valuesFile{path: c.String(command.ValuesFile), index: watchlist.DefaultIndex, gap: int(gap)}
	if c.NArg() == 1 {
		f.file.index = c.Args().First()
	}
	f.filter.Term = query.Term{}
	return nil
}

// readValues reads the file into the filter.
func (f *eventStream) readValues(db *daemon.Database) (err error) {
	in := f.Stdin
	if f.file.path != "-" {
		file, err := os.Open(f.file.path)
		if err != nil {
			return command.UsageError("bad_value", "--values-file: %w", err)
		}
		defer file.Close()
		in = file
	}
	v, err := watchlist.NewValues(f.c.Context, db.Queries, f.file.index, f.file.gap, daemon.Accounts(db.Chain()))
	if err == nil {
		err = v.Read(in, f.c.Context.Err)
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
