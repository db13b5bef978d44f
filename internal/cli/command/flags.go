package command

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/chains"
	"birthmark/model"
)

// Flags of several commands. Commands parse numbers and sizes, for errors that name the expected format.

// String returns a flag with a value. A word of usage in backquotes names the value.
func String(name, usage string) cli.Flag { return &cli.StringFlag{Name: name, Usage: usage} }

// StringDefault returns a flag with a value, and the text of its default for the help.
func StringDefault(name, usage, defaultText string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, DefaultText: defaultText}
}

// Bool returns a flag that is false unless it is set.
func Bool(name, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, DisableDefaultText: true}
}

// Optional returns a flag with a value that can be omitted: true.
func Optional(name, usage string) cli.Flag {
	return optionalFlag{&cli.GenericFlag{Name: name, Usage: usage, Value: new(optional)}}
}

type optionalFlag struct{ *cli.GenericFlag }

func (optionalFlag) TakesValue() bool { return false }

// optional is a text that package flag sets to true if the value is omitted.
type optional string

func (o *optional) Set(value string) error { *o = optional(value); return nil }
func (o *optional) String() string         { return string(*o) }
func (o *optional) IsBoolFlag() bool       { return true }

// CommonFlags returns the flags of almost every command.
func CommonFlags() []cli.Flag {
	return []cli.Flag{
		String("config", "settings `FILE` (YAML)"),
		Bool("json", "print one JSON document"),
	}
}

// ChainFlags returns the flags that select a chain.
func ChainFlags() []cli.Flag {
	return []cli.Flag{
		ChainFlag(),
		StringDefault("network", "`NETWORK` of the chain", "mainnet"),
	}
}

// ChainFlag returns --chain.
func ChainFlag() cli.Flag { return String("chain", "chain, `"+strings.Join(chains.Names(), "|")+"`") }

// MemoryFlag returns --memory.
func MemoryFlag() cli.Flag {
	return String("memory", "memory limit, a `SIZE` such as 4GiB")
}

// DatabaseFlags returns the flags of commands that open a database.
func DatabaseFlags() []cli.Flag {
	db := StringDefault("db", "database folder `DIR`", "CHAIN or CHAIN-NETWORK in the data folder")
	return slices.Concat([]cli.Flag{db, MemoryFlag()}, ChainFlags(), CommonFlags())
}

// SourceFlags returns --source and the password of the source.
func SourceFlags(usage string) []cli.Flag {
	return []cli.Flag{
		String("source", usage),
		StringDefault("source-wait", "wait for a node that is starting or busy for a `DURATION` at most; with --follow there is no limit", "2m"),
		String("proxy", "SOCKS5 proxy for nodes and peers outside of the local network, `URL` such as socks5://127.0.0.1:9050"),
		String("signet-challenge", "script of a custom signet, `HEX`, as signetchallenge in bitcoin.conf"),
		String("password-file", "`FILE` with the password of the source, or user:password: a node's .cookie file"),
	}
}

// WriteFlags returns the flags of commands that can create a database.
func WriteFlags() []cli.Flag {
	return []cli.Flag{
		StringDefault("wal", "write-ahead log, `on|off`; off is faster, but a crash loses the newest blocks", "on"),
		CompressionFlag(),
		IndexFlag(),
		Optional("raw", "also provide raw transactions, for tx --raw; `keep|files|node`: the database stores them (the default), "+
			"their places in the node's block files, or asks the node for each; keep and files only when the database is created"),
		String("assets", "derive `ASSETS` from messages in transactions, such as runes of bitcoin or 1sat of bitcoin-sv; only when the database is created"),
		Bool("statistics", "keep sums of blocks and days, and the numbers of new and active values of every index"),
		String("segments-keep", "record segments for replicas, and keep a `SIZE` of them, such as 1GiB; off: record none"),
		String("segments-to", "also publish segments to the folder or s3:// `URL`"),
	}
}

// CompressionFlag returns --compression.
func CompressionFlag() cli.Flag {
	return StringDefault("compression", "compression of the database, `default|max`; max: 7% smaller, 50% slower", "default")
}

// IndexFlag returns --index.
func IndexFlag() cli.Flag {
	return String("index", "comma-separated `INDEXES` and presets (explorer, wallet, onesat, kupo, blockfrost, ergo_node, ergo_explorer) to build")
}

// TrustFlag returns --trust.
func TrustFlag() cli.Flag {
	return String("trust", "public `KEY` of minisign that snapshots must be signed with, or a file with it")
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
