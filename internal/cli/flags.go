package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/model"
)

// Flags that several commands have. Numbers and sizes are read by the commands, for errors that say what was expected.

func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "settings `FILE` (YAML)"},
		&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "answer with one JSON document"},
	}
}

func chainFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "chain", Usage: "`CHAIN`, such as bitcoin"},
		&cli.StringFlag{Name: "network", Usage: "`NETWORK` of the chain, such as testnet3"},
	}
}

func databaseFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "`DIR` of the database"},
		&cli.StringFlag{Name: "memory", Usage: "the most memory to work with, a `SIZE` such as 4GiB"},
	}, chainFlags(), commonFlags())
}

func profileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "cpuprofile", Usage: "write a CPU profile to `FILE`"},
		&cli.StringFlag{Name: "memprofile", Usage: "write a profile of the heap at the end to `FILE`"},
	}
}

func indexFlag() cli.Flag {
	return &cli.StringFlag{Name: "index", Usage: "the `INDEXES` to keep, such as address,script_hash"}
}

func compressionFlag() cli.Flag {
	return &cli.StringFlag{Name: "compression", Usage: "of rows on disk, `default|max`; max needs 7% less disk space and 50% more time", DefaultText: "default"}
}

func rawFlag() cli.Flag {
	return &cli.BoolFlag{Name: "raw", DisableDefaultText: true, Usage: "keep transactions' own bytes besides, for tx --raw; of a new database"}
}

func limitFlag(what string) cli.Flag {
	return &cli.StringFlag{Name: "limit", Usage: "at most `N` " + what, DefaultText: "25"}
}

func pageFlags(what string, ordered bool) []cli.Flag {
	flags := []cli.Flag{
		limitFlag(what),
		&cli.StringFlag{Name: "after", Usage: "go on after the page that gave `CURSOR`"},
	}
	if ordered {
		flags = append(flags, &cli.StringFlag{Name: "order", Usage: "`ORDER` asc (oldest first) or desc", DefaultText: "asc"})
	}
	return flags
}

// limit reads --limit, 0 where it is not set.
func limit(c *cli.Context) (int, error) {
	if !c.IsSet("limit") {
		return 0, nil
	}
	n, err := strconv.Atoi(c.String("limit"))
	if err != nil || n < 1 || n > query.MaxLimit {
		return 0, badValue(c, "limit", "a number from 1 to %d", query.MaxLimit)
	}
	return n, nil
}

// heightFlag reads a flag that is a height. Not set: nil.
func heightFlag(c *cli.Context, name string) (*model.HeightPk, error) {
	if !c.IsSet(name) {
		return nil, nil
	}
	n, err := strconv.ParseUint(c.String(name), 10, 32)
	if err != nil || n > model.MaxHeight {
		return nil, badValue(c, name, "a height from 0 to %d", model.MaxHeight)
	}
	h := model.HeightPk(n)
	return &h, nil
}

// badValue is the error of a flag with a value that is not what was expected.
func badValue(c *cli.Context, flag, format string, args ...any) error {
	return usageError("bad_value", "--%s: expected %s, not %q", flag, fmt.Sprintf(format, args...), c.String(flag))
}

// oneOf are names as an error lists them.
func oneOf(names []string) string { return strings.Join(names, ", ") }
