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

// Flags of several commands. Commands parse numbers and sizes, for errors that name the expected format.

func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "settings `FILE` (YAML)"},
		&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print one JSON document"},
	}
}

func chainFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "chain", Usage: "`CHAIN`: bitcoin, cardano or ergo"},
		&cli.StringFlag{Name: "network", Usage: "`NETWORK` of the chain, such as testnet4 (default: mainnet)"},
	}
}

func databaseFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "database folder `DIR`"},
		&cli.StringFlag{Name: "memory", Usage: "memory limit, a `SIZE` such as 4GiB"},
	}, chainFlags(), commonFlags())
}

func profileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "cpuprofile", Usage: "write a CPU profile to `FILE`"},
		&cli.StringFlag{Name: "memprofile", Usage: "write a heap profile to `FILE` at the end"},
	}
}

func indexFlag() cli.Flag {
	return &cli.StringFlag{Name: "index", Usage: "comma-separated `INDEXES` to build, such as address,script_hash"}
}

func compressionFlag() cli.Flag {
	return &cli.StringFlag{Name: "compression", Usage: "compression of the database, `default|max`; max: 7% smaller, 50% slower", DefaultText: "default"}
}

func rawFlag() cli.Flag {
	return &cli.BoolFlag{Name: "raw", DisableDefaultText: true, Usage: "also store raw transactions, for tx --raw; only when the database is created"}
}

func limitFlag(what string) cli.Flag {
	return &cli.StringFlag{Name: "limit", Usage: "at most `N` " + what, DefaultText: "25"}
}

func pageFlags(what string, ordered bool) []cli.Flag {
	flags := []cli.Flag{
		limitFlag(what),
		&cli.StringFlag{Name: "after", Usage: "continue from `CURSOR`, the next value of the previous page"},
	}
	if ordered {
		flags = append(flags, &cli.StringFlag{Name: "order", Usage: "`ORDER`: asc (oldest first) or desc", DefaultText: "asc"})
	}
	return flags
}

// limit returns --limit, 0 if it is not set.
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

// heightFlag returns the height in a flag, nil if it is not set.
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

// badValue returns the error of a flag with an invalid value.
func badValue(c *cli.Context, flag, format string, args ...any) error {
	return usageError("bad_value", "--%s: expected %s, not %q", flag, fmt.Sprintf(format, args...), c.String(flag))
}

// oneOf lists names in an error.
func oneOf(names []string) string { return strings.Join(names, ", ") }
