package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/api/served"
	"birthmark/bench/generate"
	"birthmark/chains"
	"birthmark/core/query"
	"birthmark/internal/config"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// presetTest is a preset with the APIs that it is for.
type presetTest struct {
	preset, chain string
	serve         string // settings of the APIs
	apis          []apiTest
	spare         []string // parts of the preset that no operation needs
}

// apiTest is how every operation of an API is requested.
type apiTest struct {
	name       string
	operations func(*presetWorld) []string
	ask        func(w *presetWorld, operation string) (status int, body []byte)

	// node are operations that only a node answers: their errors name it. absent are operations whose answer is 404 or
	// an error of the request, as nothing in the generated chain has it, or that are never answered.
	node, absent []string
	nodes        func(*presetWorld) []string // instead of node, if it is not nil

	more func(*presetWorld) []string // other requests of the operations; nil: none
}

// lacking matches answers that report that the database lacks a part.
var lacking = regexp.MustCompile(`index add|needs the index|needs index|raw transactions|no_raw|missing_index|set indexes|Not available`)

// otherwise matches reasons for an answer with status 501 that are not in the database.
var otherwise = regexp.MustCompile(`public networks|\bnode\b|not part of the chain|reference implementation|its document describes`)

// fault returns the fault of an answer; empty: it is right.
func (a *apiTest) fault(operation string, status int, body []byte) string {
	switch {
	case status != http.StatusOK && lacking.Match(body), status == http.StatusNotImplemented && !otherwise.Match(body):
		return "the database lacks a part"
	case slices.Contains(a.node, operation):
		if status < 400 || !strings.Contains(string(body), "node") {
			return "an error that names the node is expected"
		}
	case slices.Contains(a.absent, operation):
		if status >= 500 && status != http.StatusNotImplemented || status == http.StatusOK {
			return "nothing should be found"
		}
	case status != http.StatusOK:
		return "an answer is expected"
	}
	return ""
}

// presetWorld is a database that a sync made with settings, and a server of it, without a node.
type presetWorld struct {
	testing.TB
	handler http.Handler
	server  *Server
	set     *config.Chain
	chain   *served.Chain
	values  map[string]string // of arguments
}

// settingsOfInit returns the settings that init writes for a preset, and the APIs.
func settingsOfInit(t testing.TB, x *presetTest, made generate.Files, db string) *config.Settings {
	t.Helper()
	h := &Host{NewChain: chains.New}
	given := map[string]string{
		"chain": x.chain, "network": made.Network, "source": "file://" + made.Path, "indexes": x.preset, "db": db,
		"memory": "64MiB",
	}
	for range 2 {
		text, err := config.Example(given)
		if err != nil {
			t.Fatal(err)
		}
		if x.serve != "" {
			text += "\nserve:\n" + x.serve
		}
		settings, err := config.Parse("birthmark.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		set, err := settings.One()
		if err != nil {
			t.Fatal(err)
		}
		if given["raw"] != "" {
			return settings
		}
		if _, err := h.Chain(set); err != nil {
			t.Fatal(err)
		}
		if !set.RawImplied {
			t.Fatalf("the preset %s brings no raw transactions", x.preset)
		}
		given["raw"] = string(set.Raw) // as init writes it
	}
	panic("unreachable")
}

// newPresetWorld makes a database with the settings of init, which change may change, and serves it.
func newPresetWorld(t testing.TB, x *presetTest, made generate.Files, change func(*config.Chain)) *presetWorld {
	t.Helper()
	settings := settingsOfInit(t, x, made, filepath.Join(t.TempDir(), "db"))
	set, err := settings.One()
	if err != nil {
		t.Fatal(err)
	}
	set.Watch = 1 << 20
	change(set)
	h := &Host{Log: slog.New(slog.DiscardHandler), Now: time.Now, NewChain: chains.New, Caches: 8 << 20, Flags: flags,
		Version: "1.2.3"}
	sync := h.NewBlockSync(set, nil, false)
	if err := sync.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sync.DB.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := sync.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &presetWorld{TB: t, set: set}
	w.chain = newHandle(h, sync.DB.DB).chain(sync.DB.Chain())
	w.chain.Watch = watchLists(set)
	if w.server, err = h.Listen(settings, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.server.Close() })
	w.server.Protocols = map[string]*config.Chain{w.chain.Name: set}
	if err := w.server.wire(t.Context(), []*served.Chain{w.chain}); err != nil {
		t.Fatal(err)
	}
	for _, e := range w.server.electrum {
		go w.server.answerAddress(t.Context(), e)
	}
	w.handler = w.server.handler
	return w
}

// request sends a request: a method, a path, and a body for a method with one.
func (w *presetWorld) request(target string) (status int, body []byte) {
	method, rest, _ := strings.Cut(target, " ")
	path, content, _ := strings.Cut(rest, " ")
	r := httptest.NewRequestWithContext(w.Context(), method, path, strings.NewReader(content))
	r.Host = "127.0.0.1"
	if content != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return recorder.Code, recorder.Body.Bytes()
}

// get decodes the answer to GET.
func (w *presetWorld) get(path string, answer any) {
	w.Helper()
	status, body := w.request("GET " + path)
	if err := json.Unmarshal(body, answer); status != http.StatusOK || err != nil {
		w.Fatalf("%s: %d %v: %.500s", path, status, err, body)
	}
}

// samples finds values of arguments in the database.
func (w *presetWorld) samples() {
	w.Helper()
	w.values = map[string]string{"height": "2", "index": "0"}
	err := w.chain.View(w.Context(), func(v *query.View) error {
		for h := uint32(v.Tip.Height); h > 0 && w.values["address"] == ""; h-- {
			b, err := v.Block(w.Context(), fmt.Sprint(h))
			if err != nil {
				return err
			}
			for i := len(b.Txs) - 1; i > 0 && w.values["address"] == ""; i-- {
				w.values["block"], w.values["tx"], w.values["number"] = b.Hash, b.Txs[i], fmt.Sprint(h)
				if err := w.sampleTx(v); err != nil {
					return err
				}
			}
		}
		states, err := v.IndexStates(w.Context())
		if err != nil {
			return err
		}
		for _, x := range states {
			if all, err := v.Values(w.Context(), x.Name, query.Page{Limit: 1}); err == nil && len(all.Values) > 0 {
				w.values["of "+x.Name] = all.Values[0].Value
			}
		}
		assets, err := v.Assets(w.Context(), query.Page{Limit: 1})
		if err == nil && len(assets.Assets) > 0 {
			w.values["asset"] = assets.Assets[0].Asset
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
}

// sampleTx finds values of arguments in the sampled transaction. Those of an address lack if no output has one.
func (w *presetWorld) sampleTx(v *query.View) error {
	tx, err := v.Tx(w.Context(), w.values["tx"])
	if err != nil {
		return err
	}
	raw, err := v.RawTx(w.Context(), tx.Hash)
	if err != nil {
		return err
	}
	w.values["raw"] = raw.Raw
	for i, o := range tx.Outputs {
		text, ok := o.Keys["address"].(string)
		if !ok || w.values["address"] != "" {
			continue
		}
		w.values["address"], w.values["output"] = text, fmt.Sprintf("%s:%d", tx.Hash, i)
		if o.OutputDetails != nil && o.Script != nil {
			script, err := hex.DecodeString(*o.Script)
			if err != nil {
				return err
			}
			hash := sha256.Sum256(script)
			w.values["scripthash"] = hex.EncodeToString(hash[:])
			slices.Reverse(hash[:])
			w.values["electrum"] = hex.EncodeToString(hash[:])
		}
	}
	return nil
}

const usualSeed = 1

// A database that the documented commands make with a preset has all that the APIs of the preset need: every operation
// answers. Without a part of the preset, one does not.
func TestPresetsAnswerEveryOperation(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range presetTests() {
		t.Run(x.preset+" of "+x.chain, func(t *testing.T) {
			if seen[x.preset] { // quick tests have one chain per preset
				testrun.Slow(t)
			}
			seen[x.preset] = true
			seed, txs := testseed.Of(t, usualSeed), 250
			if x.chain == "cardano" { // for a proposal of every kind
				if txs = 1000; seed == usualSeed {
					txs = 400
				}
			}
			made, err := generate.Write(t.Context(), x.chain, t.TempDir(),
				generate.Options{Seed: seed, Txs: txs, AllParts: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			whole := newPresetWorld(t, &x, made, func(*config.Chain) {})
			whole.samples()
			for _, fault := range x.faults(whole) {
				t.Error(fault)
			}
			if t.Failed() {
				return
			}
			if !slices.Contains([]string{"bitcoin", "cardano", "ergo"}, x.chain) {
				return
			}
			testrun.Slow(t)
			parts := map[string]func(*config.Chain){"raw": func(set *config.Chain) { set.Raw = config.RawOff }}
			for _, ix := range whole.set.Indexes {
				parts[ix.Name] = func(set *config.Chain) {
					set.Indexes = slices.DeleteFunc(slices.Clone(set.Indexes),
						func(x config.Index) bool { return x.Name == ix.Name })
				}
			}
			for _, part := range slices.Sorted(maps.Keys(parts)) {
				t.Run("without "+part, func(t *testing.T) {
					w := newPresetWorld(t, &x, made, parts[part])
					w.values = maps.Clone(whole.values)
					if faults := x.faults(w); (len(faults) == 0) != slices.Contains(x.spare, part) {
						t.Errorf("%d operations without an answer: %q", len(faults), faults[:min(len(faults), 3)])
					}
				})
			}
		})
	}
}

// faults requests every operation, and returns the faults of the answers.
func (x *presetTest) faults(w *presetWorld) (faults []string) {
	w.Helper()
	for i := range x.apis {
		a := x.apis[i]
		operations := a.operations(w)
		if a.nodes != nil {
			a.node = a.nodes(w)
		}
		if a.more != nil {
			operations = append(operations, a.more(w)...)
		}
		for _, list := range [][]string{a.node, a.absent} {
			for _, operation := range list {
				if !slices.Contains(operations, operation) {
					w.Errorf("%s has no operation %s", a.name, operation)
				}
			}
		}
		for _, operation := range operations {
			status, body := a.ask(w, operation)
			if fault := a.fault(operation, status, body); fault != "" {
				faults = append(faults, fmt.Sprintf("%s: %s: %s: status %d: %.200s", a.name, operation, fault, status,
					body))
			}
		}
	}
	return faults
}
