package command

import (
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"birthmark/model"
)

// Flags of several commands. Commands parse numbers and sizes, for errors that name the expected format.

// CommonFlags returns the flags of almost every command.
func CommonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "settings `FILE` (YAML)"},
		&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print one JSON document"},
	}
}

// ChainFlags returns the flags that select a chain.
func ChainFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "chain", Usage: "`CHAIN`: bitcoin, cardano or ergo"},
		&cli.StringFlag{Name: "network", Usage: "`NETWORK` of the chain, such as testnet4 (default: mainnet)"},
	}
}

// MemoryFlag returns --memory.
func MemoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory", Usage: "memory limit, a `SIZE` such as 4GiB"}
}

// DatabaseFlags returns the flags of commands that open a database.
func DatabaseFlags() []cli.Flag {
	db := &cli.StringFlag{Name: "db", Usage: "database folder `DIR`"}
	return slices.Concat([]cli.Flag{db, MemoryFlag()}, ChainFlags(), CommonFlags())
}

// SourceFlags returns --source and the password of the source.
func SourceFlags(usage string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "source", Usage: usage},
		&cli.StringFlag{Name: "password-file", Usage: "`FILE` with the password of the source, or user:password: a node's .cookie file"},
	}
}

// WriteFlags returns the flags of commands that can create a database.
func WriteFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "wal", Usage: "write-ahead log, `on|off`; off is faster, but a crash loses the newest blocks", DefaultText: "on"},
		CompressionFlag(),
		IndexFlag(),
		&cli.BoolFlag{Name: "raw", DisableDefaultText: true, Usage: "also store raw transactions, for tx --raw; only when the database is created"},
	}
}

// CompressionFlag returns --compression.
func CompressionFlag() cli.Flag {
	return &cli.StringFlag{Name: "compression", Usage: "compression of the database, `default|max`; max: 7% smaller, 50% slower", DefaultText: "default"}
}

// IndexFlag returns --index.
func IndexFlag() cli.Flag {
	return &cli.StringFlag{Name: "index", Usage: "comma-separated `INDEXES` to build, such as address,script_hash"}
}

// Number returns the number in a flag, or fallback if the flag is not set.
func Number(c *cli.Context, flag string, fallback, least, most uint64) (uint64, error) {
	if !c.IsSet(flag) {
		return fallback, nil
	}
	n, err := strconv.ParseUint(c.String(flag), 10, 64)
	if err != nil || n < least || n > most {
		return 0, BadValue(c, flag, "a number from %d to %d", least, most)
	}
	return n, nil
}

// Height returns the height in a flag, or nil if the flag is not set.
func Height(c *cli.Context, flag string) (*model.HeightPk, error) {
	if !c.IsSet(flag) {
		return nil, nil
	}
	n, err := strconv.ParseUint(c.String(flag), 10, 32)
	if err != nil || n > model.MaxHeight {
		return nil, BadValue(c, flag, "a height from 0 to %d", model.MaxHeight)
	}
	h := model.HeightPk(n)
	return &h, nil
}
