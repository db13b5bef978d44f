package benchcmd

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
)

// electrumFlag is the address of the Electrum protocol.
const electrumFlag = "address"

func (b *commands) electrumCommand() *cli.Command {
	return &cli.Command{
		Name:  "electrum",
		Usage: "measure the Electrum protocol of a served database",
		Flags: slices.Concat([]cli.Flag{
			command.String("url", "measure a running server: `URL` of a chain such as http://127.0.0.1:8080/v1/bitcoin"),
			command.String(electrumFlag, "`ADDRESS` of the Electrum protocol of that server, such as 127.0.0.1:50001"),
			command.StringDefault("db", "database folder `DIR`", "a generated database"),
			command.StringDefault("txs", "generate `N` transactions", "1000000"),
			command.String("reuse-db", "create the generated database in `DIR`, or reuse the one in it"),
			command.StringDefault("connections", "use `N` connections", "64"),
			command.StringDefault("seconds", "measure for `N` seconds", "10"),
			command.StringDefault("rps", "send `N` requests per second, even if answers are late", "as many as are answered"),
			command.StringDefault("mix", "request kinds with weights, some of "+strings.Join(bench.ElectrumKinds(), ", "),
				mixText(bench.ElectrumMix)),
			command.Bool("per-kind", "also measure each kind of the mix separately"),
			command.Bool("no-cache", "disable all caches but that of the store, as for scripts that were not requested before"),
			command.StringDefault("samples", "sample `N` of each kind", "1000"),
			command.String("network", "`NETWORK` of --db, if it cannot be detected"),
		}, notifyFlags(), commonFlags()),
		Action: b.electrum,
	}
}

// electrum measures the Electrum protocol as bench serve measures /v1, and prints the same document.
func (b *commands) electrum(c *cli.Context) error {
	if c.Bool(notifyFlag) {
		return b.notify(c)
	}
	for _, flag := range []string{"unconfirmed", "subscriptions", "blocks"} {
		if c.IsSet(flag) {
			return command.UsageError("bad_value", "--%s needs --%s", flag, notifyFlag)
		}
	}
	numbers, err := readNumbers(c, map[string]uint64{
		"txs": 1_000_000, "connections": 64, "seconds": 10, "rps": 0, "samples": 1000, "seed": 1,
	})
	if err != nil {
		return err
	}
	mix, err := mixFlag(c, bench.ElectrumMix, bench.ElectrumKinds())
	if err != nil {
		return err
	}
	err = errors.Join(command.Exclusive(c, "url", "db", "reuse-db", "txs"), command.Exclusive(c, "url", "no-cache"))
	if err != nil {
		return err
	}
	if c.IsSet(electrumFlag) != c.IsSet("url") {
		return command.UsageError("bad_value", "--url and --address belong together")
	}
	o := bench.LoadOptions{
		URL: c.String("url"), Connections: int(numbers["connections"]), For: time.Duration(numbers["seconds"]) * time.Second,
		Rate: float64(numbers["rps"]), Mix: mix, Samples: int(numbers["samples"]), Seed: numbers["seed"],
		Electrum: c.String(electrumFlag),
	}
	a := &ServeAnswer{
		Connections: o.Connections, NoCache: c.Bool("no-cache"), Rate: o.Rate, Mix: mix,
		protocols: &config.Chain{Serve: config.Serve{Electrum: "127.0.0.1:0"}},
	}
	if err := b.Load(c); err != nil {
		return err
	}
	switch {
	case c.IsSet("url"):
		a.URL = o.URL
		err = b.load(c, a, o, nil)
	case c.IsSet("db"):
		var set *config.Chain
		if set, err = b.One(c); err == nil {
			err = b.serveDatabase(c, a, set, o)
		}
	default:
		var chain bench.Chain
		if chain, err = walletChain(c, numbers["txs"], walletBlockTxs); err != nil {
			return err
		}
		err = b.withDatabaseOf(c, chain, func(set *config.Chain, recording *bench.Recording) error {
			a.Indexes = indexViews(&recording.Chain)
			return b.serveDatabase(c, a, set, o)
		})
	}
	if err != nil {
		return err
	}
	return b.Answer(nil, a, func(page *terminal.Page) { showServe(page, a) })
}
