package benchcmd

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
)

const (
	// esploraFlag is the path of the Esplora API on the server.
	esploraFlag = "path"
	esploraPath = "/api"
)

func (b *commands) esploraCommand() *cli.Command {
	return &cli.Command{
		Name:  "esplora",
		Usage: "measure the Esplora API of a served database",
		Flags: slices.Concat([]cli.Flag{
			command.String("url", "measure a running server: `URL` of a chain such as http://127.0.0.1:8080/v1/bitcoin"),
			command.StringDefault(esploraFlag, "`PATH` of the Esplora API on that server", esploraPath),
			command.StringDefault("db", "database folder `DIR`", "a generated database"),
			command.StringDefault("txs", "generate `N` transactions", "1000000"),
			command.String("reuse-db", "create the generated database in `DIR`, or reuse the one in it"),
			command.StringDefault("connections", "use `N` connections", "64"),
			command.StringDefault("seconds", "measure for `N` seconds", "10"),
			command.StringDefault("rps", "send `N` requests per second, even if answers are late", "as many as are answered"),
			command.StringDefault("mix", "request kinds with weights, some of "+strings.Join(bench.EsploraKinds(), ", "),
				mixText(bench.EsploraMix)),
			command.Bool("per-kind", "also measure each kind of the mix separately"),
			command.StringDefault("samples", "sample `N` of each kind", "1000"),
			command.String("network", "`NETWORK` of --db, if it cannot be detected"),
		}, commonFlags()),
		Action: b.esplora,
	}
}

// esplora measures the Esplora API as bench serve measures /v1, and prints the same document.
func (b *commands) esplora(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{
		"txs": 1_000_000, "connections": 64, "seconds": 10, "rps": 0, "samples": 1000, "seed": 1,
	})
	if err != nil {
		return err
	}
	mix, err := mixFlag(c, bench.EsploraMix, bench.EsploraKinds())
	if err != nil {
		return err
	}
	if err := command.Exclusive(c, "url", "db", "reuse-db", "txs"); err != nil {
		return err
	}
	if c.IsSet(esploraFlag) && !c.IsSet("url") {
		return command.UsageError("bad_value", "--path needs --url")
	}
	o := bench.LoadOptions{
		URL: c.String("url"), Connections: int(numbers["connections"]), For: time.Duration(numbers["seconds"]) * time.Second,
		Rate: float64(numbers["rps"]), Mix: mix, Samples: int(numbers["samples"]), Seed: numbers["seed"], Esplora: esploraPath,
	}
	if c.IsSet(esploraFlag) {
		o.Esplora = strings.TrimSuffix(c.String(esploraFlag), "/")
	}
	a := &ServeAnswer{
		Connections: o.Connections, Rate: o.Rate, Mix: mix,
		protocols: &config.Chain{Serve: config.Serve{Esplora: esploraPath}},
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
