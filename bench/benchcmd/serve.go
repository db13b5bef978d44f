package benchcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/core"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
)

func (b *commands) serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "measure a database served over HTTP",
		Flags: slices.Concat([]cli.Flag{
			command.String("url", "measure a running server: `URL` of a chain such as http://127.0.0.1:8080/v1/bitcoin"),
			command.StringDefault("db", "database folder `DIR`", "a generated database"),
			command.StringDefault("txs", "generate `N` transactions", "1000000; with --syncing twice as many"),
			command.String("reuse-db", "create the generated database in `DIR`, or reuse the one in it"),
			command.StringDefault("connections", "use `N` connections", "64"),
			command.StringDefault("seconds", "measure for `N` seconds", "10"),
			command.StringDefault("rps", "send `N` requests per second, even if answers are late",
				"as many as are answered; with --syncing 3000"),
			command.StringDefault("mix", "request kinds with weights, some of "+strings.Join(bench.LoadKinds(), ", "),
				mixText(bench.LoadMix)),
			command.Bool("per-kind", "also measure each kind of the mix separately"),
			command.Bool("syncing", "serve half of the blocks while the rest is synced; compare with a sync without requests"),
			command.StringDefault("repeat", "with --syncing: repeat each sync `N` times, alternating, and print the medians", "3"),
			command.Bool("no-cache", "disable the response cache of the server"),
			command.StringDefault("samples", "sample `N` of each kind", "1000"),
			command.String("network", "`NETWORK` of --db, if it cannot be detected"),
			&cli.BoolFlag{Name: "client", Hidden: true}, // the process that sends the requests
			&cli.StringFlag{Name: esploraFlag, Hidden: true},
			&cli.StringFlag{Name: electrumFlag, Hidden: true},
		}, commonFlags()),
		Action: b.serve,
	}
}

// ServeAnswer is the document of bench serve.
type ServeAnswer struct {
	Chain       string                      `json:"chain,omitempty"`
	Indexes     map[string]config.IndexView `json:"indexes,omitempty"` // of a generated database
	Txs         uint64                      `json:"txs,omitempty"`     // in the database at the beginning
	Memory      int64                       `json:"memory,omitempty"`  // bytes
	URL         string                      `json:"url,omitempty"`     // of another server
	Connections int                         `json:"connections"`
	NoCache     bool                        `json:"fresh,omitempty"`
	Rate        float64                     `json:"pace,omitempty"` // target in requests per second
	Mix         map[string]int              `json:"mix"`
	LoadAnswer
	PerKind map[string]*LoadAnswer `json:"by_itself,omitempty"`

	protocols *config.Chain  // its wallet protocols are served too; nil: none
	electrum  string         // address of the Electrum protocol
	Syncing   *SyncingAnswer `json:"syncing,omitempty"`
}

// LoadAnswer is the result of a load, and the usage of the serving process during it.
type LoadAnswer struct {
	*bench.LoadResult
	Server *bench.Usage `json:"server,omitempty"` // nil: another server
}

// SyncingAnswer is the rate of a sync in transactions per second, without and with load: the medians and each
// repetition.
type SyncingAnswer struct {
	SyncRates
	Loss  float64     `json:"loses"` // of the rate without load, from 0 to 1
	Times []SyncRates `json:"times"`
}

// SyncRates are the rates of a sync in transactions per second.
type SyncRates struct {
	Alone  float64 `json:"alone_txs_per_s"`
	Loaded float64 `json:"asked_txs_per_s"`
}

// mixText formats a mix as in --mix, the most frequent kind first.
func mixText(mix map[string]int) string {
	var parts []string
	for _, kind := range kindsOf(mix) {
		parts = append(parts, fmt.Sprintf("%s=%d", kind, mix[kind]))
	}
	return strings.Join(parts, ",")
}

// kindsOf returns the kinds of a mix, the most frequent first.
func kindsOf(mix map[string]int) (kinds []string) {
	for _, kind := range slices.Concat(bench.LoadKinds(), bench.EsploraKinds(), bench.ElectrumKinds()) {
		if mix[kind] > 0 {
			kinds = append(kinds, kind)
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return mix[b] - mix[a] })
	return kinds
}

func mixFlag(c *cli.Context, usual map[string]int, kinds []string) (map[string]int, error) {
	if !c.IsSet("mix") {
		return usual, nil
	}
	mix := map[string]int{}
	for part := range strings.SplitSeq(c.String("mix"), ",") {
		kind, text, weighed := strings.Cut(strings.TrimSpace(part), "=")
		weight, err := strconv.Atoi(text)
		if !weighed {
			weight, err = 1, nil
		}
		if err != nil || weight < 1 || weight > 1000 || !slices.Contains(kinds, kind) {
			return nil, command.BadValue(c, "mix", "some of %s, each with a weight from 1 to 1000, as %s",
				strings.Join(kinds, ", "), mixText(usual))
		}
		mix[kind] = weight
	}
	return mix, nil
}

func (b *commands) serve(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{
		"txs": 1_000_000, "connections": 64, "seconds": 10, "rps": 0, "samples": 1000, "repeat": 3, "seed": 1,
	})
	if err != nil {
		return err
	}
	kinds := bench.LoadKinds()
	if c.IsSet(esploraFlag) {
		kinds = bench.EsploraKinds()
	}
	if c.IsSet(electrumFlag) {
		kinds = bench.ElectrumKinds()
	}
	mix, err := mixFlag(c, bench.LoadMix, kinds)
	if err != nil {
		return err
	}
	err = errors.Join(
		command.Exclusive(c, "url", "db", "reuse-db", "txs", "syncing", "no-cache"),
		command.Exclusive(c, "db", "reuse-db", "txs", "syncing"),
		command.Exclusive(c, "syncing", "reuse-db", "per-kind"),
	)
	if err != nil {
		return err
	}
	if c.IsSet("repeat") && !c.Bool("syncing") {
		return command.UsageError("bad_value", "--repeat needs --syncing")
	}
	if c.Bool("syncing") && !c.IsSet("txs") {
		numbers["txs"] *= 2
	}
	if c.Bool("syncing") && !c.IsSet("rps") {
		numbers["rps"] = 3000
	}
	o := bench.LoadOptions{
		URL: c.String("url"), Connections: int(numbers["connections"]), For: time.Duration(numbers["seconds"]) * time.Second,
		Rate: float64(numbers["rps"]), Mix: mix, Samples: int(numbers["samples"]), Seed: numbers["seed"],
		Esplora: c.String(esploraFlag), Electrum: c.String(electrumFlag),
	}
	a := &ServeAnswer{Connections: o.Connections, NoCache: c.Bool("no-cache"), Rate: o.Rate, Mix: mix}
	if c.Bool("client") {
		return b.client(c, o)
	}
	if err := b.Load(c); err != nil {
		return err
	}
	switch {
	case c.IsSet("url"):
		a.URL = o.URL
		err = b.load(c, a, o, nil)
	case c.Bool("syncing"):
		err = b.serveSyncing(c, a, o, int(numbers["txs"]), int(numbers["repeat"]))
	case c.IsSet("db"):
		var set *config.Chain
		if set, err = b.One(c); err == nil {
			err = b.serveDatabase(c, a, set, o)
		}
	default:
		err = b.withGeneratedDatabase(c, numbers["txs"], func(set *config.Chain, recording *bench.Recording) error {
			a.Indexes = indexViews(&recording.Chain)
			return b.serveDatabase(c, a, set, o)
		})
	}
	if err != nil {
		return err
	}
	return b.Answer(nil, a, func(page *terminal.Page) { showServe(page, a) })
}

// serveDatabase measures a database that is not written.
func (b *commands) serveDatabase(c *cli.Context, a *ServeAnswer, set *config.Chain, o bench.LoadOptions) error {
	return b.ReadChain(c, set, core.Options{NoLabels: a.NoCache && a.protocols != nil}, func(db *daemon.Database) error {
		return b.whileServed(c, a, db.DB, func(url string) error {
			o.URL, o.Electrum = url, a.electrum
			return command.Profile(c, func() error { return b.load(c, a, o, bench.Watch) })
		})
	})
}

// load measures all kinds together and, with --per-kind, each separately.
func (b *commands) load(c *cli.Context, a *ServeAnswer, o bench.LoadOptions, watch func() (stop func() bench.Usage)) error {
	err := b.loadInProcess(c, &a.LoadAnswer, o, watch, nil)
	if err != nil || !c.Bool("per-kind") {
		return err
	}
	a.PerKind = map[string]*LoadAnswer{}
	for _, kind := range kindsOf(o.Mix) {
		o.Mix = map[string]int{kind: 1}
		a.PerKind[kind] = &LoadAnswer{}
		if err := b.loadInProcess(c, a.PerKind[kind], o, watch, nil); err != nil {
			return err
		}
	}
	return nil
}

// serveSyncing measures serving while a sync writes, and the cost to the sync: the same blocks are synced without and
// with load, into equal databases, repeat times. The load in the answer is that of the last repetition.
func (b *commands) serveSyncing(c *cli.Context, a *ServeAnswer, o bench.LoadOptions, txs, repeat int) error {
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	chain.Txs = txs
	a.Indexes = indexViews(&chain)
	times := make([]SyncRates, repeat)
	alone, loaded := make([]float64, repeat), make([]float64, repeat)
	err = b.withRecording(c, chain, "bench serve", func(recording *bench.Recording, next func() bench.Options) error {
		for i := range times {
			err := withSyncing(c, recording, next(), func(db *bench.Arriving) (err error) {
				alone[i], err = db.Sync(c.Context)
				return err
			})
			if err != nil {
				return err
			}
			err = withSyncing(c, recording, next(), func(db *bench.Arriving) error {
				return b.whileServed(c, a, db.DB(), func(url string) error {
					o.URL, o.For = url, longestSync
					return b.loadInProcess(c, &a.LoadAnswer, o, bench.Watch, func() (err error) {
						loaded[i], err = db.Sync(c.Context)
						return err
					})
				})
			})
			if err != nil {
				return err
			}
			times[i] = SyncRates{alone[i], loaded[i]}
		}
		return nil
	})
	if err != nil {
		return err
	}
	median := SyncRates{bench.MedianOf(alone), bench.MedianOf(loaded)}
	a.Syncing = &SyncingAnswer{SyncRates: median, Loss: 1 - median.Loaded/median.Alone, Times: times}
	return nil
}

// longestSync limits a load that ends with a sync.
const longestSync = time.Hour

// withSyncing calls use with a database of the first half of the recorded blocks, which can sync the others, and
// removes it.
func withSyncing(c *cli.Context, recording *bench.Recording, o bench.Options, use func(*bench.Arriving) error) error {
	db, err := bench.NewArriving(c.Context, recording, 0, o)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close(), os.RemoveAll(o.Dir))
}

// whileServed calls do with the URL of a database's chain while this process serves it.
func (b *commands) whileServed(c *cli.Context, a *ServeAnswer, db *core.DB, do func(url string) error) (err error) {
	status, err := db.Status(c.Context)
	if err != nil {
		return err
	}
	a.Chain, a.Txs, a.Memory = status.Chain, status.Totals.Txs, int64(b.Settings.Memory)
	server, err := b.Host(c).Listen(b.Settings, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if a.NoCache {
		server.CacheBytes = -1
	}
	if a.protocols != nil {
		server.Protocols = map[string]*config.Chain{daemon.ServedName(db.Chain()): a.protocols}
	}
	return server.ServeDatabases(c.Context, []*core.DB{db}, func(context.Context) error {
		for _, url := range server.Address().Electrum {
			a.electrum = strings.TrimPrefix(url, "tcp://")
		}
		return do(server.URL() + "v1/" + daemon.ServedName(db.Chain()))
	})
}
