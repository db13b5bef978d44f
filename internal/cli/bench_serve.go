package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"birthmark/bench"
	"birthmark/core"
	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

func (p *program) benchServeCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "measure a database served over HTTP",
		Description: "Serves a database through the complete server of birthmark serve, while another process sends requests over many\n" +
			"connections, one after the other on each. The requests are drawn at random and sent once before the measurement. The\n" +
			"database is --db, or a generated one that is removed at the end or kept in --reuse-db. With --url, a running server is\n" +
			"measured.\n" +
			"The mix in percent: " + mixText(bench.LoadMix) + ". find is the first page of an address. Addresses with more than 100\n" +
			"outputs and transactions with more than 1,000 inputs and outputs are excluded; bench query measures those.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "url", Usage: "measure a running server: `URL` of a chain such as http://127.0.0.1:8080/v1/bitcoin"},
			&cli.StringFlag{Name: "db", Usage: "database folder `DIR`", DefaultText: "a generated database"},
			&cli.StringFlag{Name: "txs", Usage: "generate `N` transactions", DefaultText: "1000000; with --syncing twice as many"},
			&cli.StringFlag{Name: "reuse-db", Usage: "create the generated database in `DIR`, or reuse the one in it"},
			&cli.StringFlag{Name: "connections", Usage: "use `N` connections", DefaultText: "64"},
			&cli.StringFlag{Name: "seconds", Usage: "measure for `N` seconds", DefaultText: "10"},
			&cli.StringFlag{Name: "rps", Usage: "send `N` requests per second, even if answers are late", DefaultText: "as many as are answered; with --syncing 3000"},
			&cli.StringFlag{Name: "mix", Usage: "request kinds with weights, some of " + strings.Join(bench.LoadKinds(), ", "), DefaultText: mixText(bench.LoadMix)},
			&cli.BoolFlag{Name: "per-kind", DisableDefaultText: true, Usage: "also measure each kind of the mix separately"},
			&cli.BoolFlag{Name: "syncing", DisableDefaultText: true, Usage: "serve half of the blocks while the others are synced, and compare with a sync without requests"},
			&cli.StringFlag{Name: "repeat", Usage: "with --syncing: repeat each sync `N` times, alternating, and print the medians", DefaultText: "3"},
			&cli.BoolFlag{Name: "no-cache", DisableDefaultText: true, Usage: "disable the response cache of the server"},
			&cli.StringFlag{Name: "samples", Usage: "sample `N` of each kind", DefaultText: "1000"},
			&cli.BoolFlag{Name: "waits", Hidden: true}, // the client process: prints when it is ready, and receives when to start and to stop
		}, generatedFlags(), memoryFlags(), []cli.Flag{
			&cli.StringFlag{Name: "network", Usage: "`NETWORK` of --db, if it cannot be detected"},
		}, profileFlags(), commonFlags()),
		Action: p.benchServe,
	}
}

// benchServeAnswer is the document of bench serve.
type benchServeAnswer struct {
	Chain       string                      `json:"chain,omitempty"`
	Indexes     map[string]config.IndexView `json:"indexes,omitempty"` // of a generated database
	Txs         uint64                      `json:"txs,omitempty"`     // in the database; when it began
	Memory      int64                       `json:"memory,omitempty"`  // bytes
	URL         string                      `json:"url,omitempty"`     // of another server
	Connections int                         `json:"connections"`
	Fresh       bool                        `json:"fresh,omitempty"` // each answer was read again
	Pace        float64                     `json:"pace,omitempty"`  // target in requests per second
	Mix         map[string]int              `json:"mix"`
	loadAnswer
	ByItself map[string]*loadAnswer `json:"by_itself,omitempty"` // each kind
	Syncing  *syncingAnswer         `json:"syncing,omitempty"`
}

// loadAnswer is one load, and what the process that served it took meanwhile.
type loadAnswer struct {
	*bench.LoadResult
	Server *bench.Usage `json:"server,omitempty"` // nil: another server
}

// syncingAnswer is the rate of indexing in transactions per second, with and without load: the medians and each run.
type syncingAnswer struct {
	Alone float64       `json:"alone_txs_per_s"`
	Asked float64       `json:"asked_txs_per_s"`
	Loses float64       `json:"loses"` // of the first, a share from 0 to 1
	Times []syncingOnce `json:"times"`
}

// syncingOnce is how fast blocks arrived, once each way; the load of the answer is that of the last.
type syncingOnce struct {
	Alone float64 `json:"alone_txs_per_s"`
	Asked float64 `json:"asked_txs_per_s"`
}

// between takes the medians of all times.
func (a *syncingAnswer) between() {
	of := func(figure func(syncingOnce) float64) float64 {
		values := make([]float64, len(a.Times))
		for i, t := range a.Times {
			values[i] = figure(t)
		}
		return bench.MedianOf(values)
	}
	a.Alone, a.Asked = of(func(t syncingOnce) float64 { return t.Alone }), of(func(t syncingOnce) float64 { return t.Asked })
	a.Loses = 1 - a.Asked/a.Alone
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
	for _, kind := range bench.LoadKinds() {
		if mix[kind] > 0 {
			kinds = append(kinds, kind)
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return mix[b] - mix[a] })
	return kinds
}

func mixFlag(c *cli.Context) (map[string]int, error) {
	if !c.IsSet("mix") {
		return bench.LoadMix, nil
	}
	mix := map[string]int{}
	for part := range strings.SplitSeq(c.String("mix"), ",") {
		kind, text, weighed := strings.Cut(strings.TrimSpace(part), "=")
		weight, err := strconv.Atoi(text)
		if !weighed {
			weight, err = 1, nil
		}
		if err != nil || weight < 1 || weight > 1000 || !slices.Contains(bench.LoadKinds(), kind) {
			return nil, badValue(c, "mix", "some of %s, each with a weight from 1 to 1000, as tx=45,block=5", strings.Join(bench.LoadKinds(), ", "))
		}
		mix[kind] = weight
	}
	return mix, nil
}

func (p *program) benchServe(c *cli.Context) error {
	numbers, err := benchNumbers(c, map[string]uint64{"txs": 1_000_000, "connections": 64, "seconds": 10, "rps": 0, "samples": 1000, "repeat": 3, "seed": 1})
	if err != nil {
		return err
	}
	mix, err := mixFlag(c)
	if err != nil {
		return err
	}
	if err := onlyOf(c, "url", "db", "reuse-db", "txs", "syncing", "no-cache"); err != nil {
		return err
	}
	if err := onlyOf(c, "db", "reuse-db", "txs", "syncing"); err != nil {
		return err
	}
	if err := onlyOf(c, "syncing", "reuse-db", "per-kind"); err != nil {
		return err
	}
	if c.IsSet("repeat") && !c.Bool("syncing") {
		return usageError("bad_value", "--repeat is of --syncing: expected both or neither")
	}
	if c.Bool("syncing") {
		if !c.IsSet("txs") {
			numbers["txs"] *= 2
		}
		if !c.IsSet("rps") {
			numbers["rps"] = 3000
		}
	}
	a := &benchServeAnswer{Connections: int(numbers["connections"]), Fresh: c.Bool("no-cache"), Pace: float64(numbers["rps"]), Mix: mix}
	o := bench.LoadOptions{
		URL: c.String("url"), Connections: a.Connections, For: time.Duration(numbers["seconds"]) * time.Second, Rate: a.Pace, Mix: mix,
		Samples: int(numbers["samples"]), Seed: numbers["seed"],
	}
	if c.Bool("waits") {
		return p.askWhenTold(c, o)
	}
	if err := p.load(c); err != nil {
		return err
	}
	switch {
	case c.IsSet("url"):
		a.URL = o.URL
		err = p.loads(c, a, o, nil)
	case c.Bool("syncing"):
		err = p.benchServeSyncing(c, a, o, int(numbers["txs"]), int(numbers["repeat"]))
	default:
		err = p.benchServeDatabase(c, a, o, int(numbers["txs"]))
	}
	if err != nil {
		return err
	}
	return p.answer(nil, a, func(pg *page) { pg.benchServe(a) })
}

// onlyOf refuses flags that say nothing where another one is set.
func onlyOf(c *cli.Context, set string, others ...string) error {
	for _, name := range others {
		if c.IsSet(set) && c.IsSet(name) {
			return usageError("bad_value", "--%s and --%s do not go together: expected one of them", set, name)
		}
	}
	return nil
}

// benchServeDatabase measures how a database is served that nobody writes.
func (p *program) benchServeDatabase(c *cli.Context, a *benchServeAnswer, o bench.LoadOptions, txs int) (err error) {
	set, err := p.one(c)
	if err != nil {
		return err
	}
	if !c.IsSet("db") {
		chain, err := generatedChain(c, 2000)
		if err != nil {
			return err
		}
		chain.Txs = txs
		dir := c.String("reuse-db")
		if dir == "" {
			if dir, err = os.MkdirTemp(c.String("dir"), "birthmark-bench-"); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		}
		if _, err := p.keptDatabase(c, dir, chain); err != nil {
			return err
		}
		set = &config.Chain{DB: filepath.Join(dir, keptFolder), Indexes: indexesSet(&chain), Memory: p.settings.Memory}
		a.Indexes = benchIndexes(&chain)
	}
	db, err := p.host(c).OpenReading(c.Context, set, core.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return p.served(c, a, db.DB, func(url string) error {
		o.URL = url
		return profile(c, func(c *cli.Context) error { return p.loads(c, a, o, bench.Watch) })
	})
}

// loads has another process ask, for all kinds together and for each by itself.
func (p *program) loads(c *cli.Context, a *benchServeAnswer, o bench.LoadOptions, watch func() (stop func() bench.Usage)) (err error) {
	if err = p.askApart(c, &a.loadAnswer, o, watch, nil); err != nil {
		return err
	}
	if !c.Bool("per-kind") {
		return nil
	}
	a.ByItself = map[string]*loadAnswer{}
	for _, kind := range kindsOf(o.Mix) {
		o.Mix = map[string]int{kind: 1}
		a.ByItself[kind] = &loadAnswer{}
		if err = p.askApart(c, a.ByItself[kind], o, watch, nil); err != nil {
			return err
		}
	}
	return nil
}

// benchServeSyncing measures serving while a sync writes, and the cost to the sync: the same blocks arrive twice, in
// equal databases, repeat times.
func (p *program) benchServeSyncing(c *cli.Context, a *benchServeAnswer, o bench.LoadOptions, txs, repeat int) error {
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	chain.Txs = txs
	a.Indexes = benchIndexes(&chain)
	a.Syncing = &syncingAnswer{}
	return p.onRecording(c, chain, "bench serve", func(made *bench.Recording, next func() bench.Options) error {
		for range repeat {
			var once syncingOnce
			err := p.arriving(c, made, next(), func(db *bench.Arriving) (err error) {
				once.Alone, err = db.Sync(c.Context)
				return err
			})
			if err != nil {
				return err
			}
			err = p.arriving(c, made, next(), func(db *bench.Arriving) error {
				return p.served(c, a, db.DB(), func(url string) error {
					o.URL, o.For = url, longestSync
					return p.askApart(c, &a.loadAnswer, o, bench.Watch, func() (err error) {
						once.Asked, err = db.Sync(c.Context)
						return err
					})
				})
			})
			if err != nil {
				return err
			}
			a.Syncing.Times = append(a.Syncing.Times, once)
		}
		a.Syncing.between()
		return nil
	})
}

// longestSync ends a load whatever the sync does.
const longestSync = time.Hour

// arriving calls use with a database that half of the recorded blocks are to arrive in, and removes it.
func (p *program) arriving(c *cli.Context, made *bench.Recording, o bench.Options, use func(*bench.Arriving) error) error {
	db, err := bench.NewArriving(c.Context, made, o)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close(), os.RemoveAll(o.Dir))
}
