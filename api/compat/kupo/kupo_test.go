package kupo_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// preview syncs real blocks of the preview network.
func preview(t testing.TB, unspent bool, to model.HeightPk) *world {
	t.Helper()
	w := newWorld(t, "preview", unspent)
	w.sync(t, "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), to)
	return w
}

// question is a request for matches and the outputs that it selects.
type question struct {
	url     string
	selects func(*output) bool
	resolve bool
	oldest  bool
}

// ask returns a random request about an output.
func (n *naive) ask(rng *rand.Rand) question {
	o := n.outputs[rng.IntN(len(n.outputs))]
	q := question{url: "/matches", selects: func(*output) bool { return true }}
	only := func(f func(*output) bool) {
		before := q.selects
		q.selects = func(o *output) bool { return before(o) && f(o) }
	}
	payment, stake := o.credential(address.PaymentCredential), o.credential(address.StakeCredential)
	pays := func(c *output) bool { return c.credential(address.PaymentCredential) == payment }
	stakes := func(c *output) bool { return c.credential(address.StakeCredential) == stake }
	var asset string
	if len(o.assets) > 0 {
		asset = hex.EncodeToString(o.assets[rng.IntN(len(o.assets))].ID)
	}
	switch kind := rng.IntN(10); {
	case kind == 0 && rng.IntN(20) == 0:
		q.url += "/*/*"
		only(func(c *output) bool { return !c.byron() })
	case kind == 1 && payment != "":
		q.url += "/" + payment + "/*"
		only(pays)
	case kind == 2 && stake != "":
		q.url += "/*/" + stake
		only(stakes)
	case kind == 3 && stake != "":
		q.url += "/" + payment + "/" + stake
		only(pays)
		only(stakes)
	case kind == 4 && asset != "":
		q.url += "/" + asset[:56] + ".*"
		only(func(c *output) bool { return c.holds(asset[:56]) })
	case kind == 5 && asset != "":
		q.url += "/" + asset[:56] + "." + asset[56:]
		only(func(c *output) bool { return c.holdsExactly(asset) })
	case kind == 6:
		q.url += "/*@" + o.tx.String()
		only(func(c *output) bool { return c.tx == o.tx })
	case kind == 7:
		q.url += fmt.Sprintf("/%d@%s", o.index, o.tx)
		only(func(c *output) bool { return c.tx == o.tx && c.index == o.index })
	case kind == 8:
		q.url += "/" + hex.EncodeToString(o.address)
		only(func(c *output) bool { return string(c.address) == string(o.address) })
	default:
		q.url += "/" + address.FormatAny(o.address)
		only(func(c *output) bool { return string(c.address) == string(o.address) })
	}
	q.url += "?"
	with := func(parameter string) { q.url += parameter + "&" }
	switch rng.IntN(4) {
	case 0:
		with("unspent")
		only(func(c *output) bool { return c.spent == nil })
	case 1:
		with("spent")
		only(func(c *output) bool { return c.spent != nil })
	}
	n.bound(rng, with, only)
	switch rng.IntN(6) {
	case 0:
		if asset != "" {
			with("asset_name=" + asset[56:] + "&policy_id=" + asset[:56])
			only(func(c *output) bool { return c.holdsExactly(asset) })
		}
	case 1:
		if asset != "" {
			with("policy_id=" + asset[:56])
			only(func(c *output) bool { return c.holds(asset[:56]) })
		}
	case 2:
		with("transaction_id=" + o.tx.String())
		only(func(c *output) bool { return c.tx == o.tx })
		if rng.IntN(2) == 0 {
			with(fmt.Sprintf("output_index=%d", o.index))
			only(func(c *output) bool { return c.index == o.index })
		}
	}
	if q.resolve = rng.IntN(3) == 0; q.resolve {
		with("resolve_hashes")
	}
	if q.oldest = rng.IntN(2) == 0; q.oldest {
		with("order=oldest_first")
	}
	return q
}

// bound adds bounds of the slots in which outputs are created or spent.
func (n *naive) bound(rng *rand.Rand, with func(string), only func(func(*output) bool)) {
	slot := func() (text string, at uint64) {
		p := n.blocks[rng.IntN(len(n.blocks))]
		if rng.IntN(3) == 0 {
			return fmt.Sprintf("%d.%s", p.Slot, p.Hash), p.Slot
		}
		at = p.Slot + rng.Uint64N(30)
		return fmt.Sprint(at), at
	}
	if rng.IntN(3) == 0 {
		text, at := slot()
		if rng.IntN(2) == 0 {
			with("created_after=" + text)
			only(func(c *output) bool { return c.created.Slot >= at })
		} else {
			with("spent_after=" + text)
			only(func(c *output) bool { return c.spent != nil && c.spent.Slot >= at })
		}
	}
	if rng.IntN(3) == 0 {
		text, at := slot()
		if rng.IntN(2) == 0 {
			with("created_before=" + text)
			only(func(c *output) bool { return c.created.Slot <= at })
		} else {
			with("spent_before=" + text)
			only(func(c *output) bool { return c.spent != nil && c.spent.Slot <= at })
		}
	}
}

// longList is the number of matches from which most requests are skipped.
const longList = 500

// verify compares the answers to random requests with those of the model.
func (w *world) verify(t *testing.T, rng *rand.Rand, questions int) (matches int) {
	t.Helper()
	for range questions {
		q := w.naive.ask(rng)
		selected := slices.Collect(func(yield func(*output) bool) {
			for _, o := range w.naive.outputs {
				if q.selects(o) && !yield(o) {
					return
				}
			}
		})
		if len(selected) > longList && rng.IntN(10) > 0 { // most of the time would be for few addresses
			continue
		}
		want := []any{}
		for _, o := range selected {
			want = append(want, w.naive.match(o, q.resolve))
		}
		if !q.oldest {
			slices.Reverse(want)
		}
		matches += len(want)
		got := w.get(t, q.url)
		if !reflect.DeepEqual(got, any(want)) {
			all, _ := got.([]any)
			t.Fatalf("%s: %d matches, expected %d\n%s", q.url, len(all), len(want), firstDifference(all, want))
		}
	}
	return matches
}

func firstDifference(got, want []any) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("match %d is missing: %v", i, want[i])
		case i >= len(want):
			return fmt.Sprintf("match %d is unexpected: %v", i, got[i])
		case !reflect.DeepEqual(got[i], want[i]):
			return fmt.Sprintf("match %d:\n got %v\nwant %v", i, got[i], want[i])
		}
	}
	return ""
}

// Matches of every pattern with every filter equal those of the model, on real blocks.
func TestMatchesOfRealBlocks(t *testing.T) {
	for _, unspent := range []bool{true, false} {
		t.Run(fmt.Sprintf("unspent outputs are kept %t", unspent), func(t *testing.T) {
			t.Parallel()
			blocks := map[bool]int{true: 50_939, false: 20_000}[unspent]
			w := preview(t, unspent, model.HeightPk(testrun.Amount(blocks, 3_000)))
			n := w.verify(t, testseed.Rand(t), testrun.Rounds(t, testrun.Amount(200, 100)))
			if n == 0 {
				t.Error("no request had a match")
			}
		})
	}
}

// Datums and scripts are found by the hashes that outputs have.
func TestDatumsAndScripts(t *testing.T) {
	w := preview(t, true, model.HeightPk(testrun.Amount(50_939, 3_000)))
	datums, scripts := 0, 0
	for _, o := range w.naive.outputs {
		if hash := o.details.DatumHash; hash != "" {
			var want any
			if datum, known := w.naive.datums[hash]; known {
				want = map[string]any{"datum": datum}
				datums++
			}
			if got := w.get(t, "/datums/"+hash); !reflect.DeepEqual(got, want) {
				t.Fatalf("datum %s: %v, expected %v", hash, got, want)
			}
		}
		if s := o.details.ScriptRef; s != nil {
			scripts++
			if got := w.get(t, "/scripts/"+s.Hash); !reflect.DeepEqual(got, scriptJSON(*s, true)) {
				t.Fatalf("script %s: %v", s.Hash, got)
			}
		}
		for _, a := range o.assets {
			policy := hex.EncodeToString(a.ID[:address.PolicySize])
			s, known := w.naive.scripts[policy]
			if got := w.get(t, "/scripts/"+policy); known && !reflect.DeepEqual(got, scriptJSON(s, true)) {
				t.Fatalf("policy %s: %v, expected %v", policy, got, scriptJSON(s, true))
			}
		}
	}
	for hash, s := range w.naive.scripts { // of all witnesses too
		if hash == "1b8374d0b294a4a3399ff25f06a0707b16214f1e9b67cf89ba2454a6" {
			continue // an account without outputs withdraws with it: the index of subjects finds it
		}
		if got := w.get(t, "/scripts/"+hash); !reflect.DeepEqual(got, scriptJSON(s, true)) {
			t.Errorf("script %s: %v, expected %v", hash, got, scriptJSON(s, true))
		}
	}
	if got := w.get(t, "/scripts/"+strings.Repeat("0", 56)); got != nil {
		t.Errorf("an unknown script: %v", got)
	}
	if got := w.get(t, "/datums/"+strings.Repeat("0", 64)); got != nil {
		t.Errorf("an unknown datum: %v", got)
	}
	t.Logf("%d datums, %d reference scripts, %d scripts", datums, scripts, len(w.naive.scripts))
}

// Errors have a hint and the status of Kupo.
func TestErrors(t *testing.T) {
	w := preview(t, true, 100)
	zeros := strings.Repeat("0", 64)
	for _, test := range []struct {
		method, url string
		status      int
		says        string
	}{
		{"GET", "/nothing", 404, "no such endpoint"},
		{"GET", "", 404, "no such endpoint"},
		{"GET", "/v1", 404, "no such endpoint"},
		{"GET", "/v1/nothing", 404, "no such endpoint"},
		{"POST", "/matches", 406, "method"},
		{"POST", "/matches/a/b/c", 406, "method"},
		{"POST", "/v1/datums", 406, "method"},
		{"GET", "/matches/x", 400, "invalid pattern"},
		{"GET", "/matches/a/b/c", 400, "invalid pattern"},
		{"GET", "/matches/addr1vx", 400, "invalid pattern"},
		{"GET", "/matches/deadbeef", 400, "invalid pattern"},
		{"GET", "/matches/hex:deadbeef", 400, "invalid pattern"},
		{"GET", "/matches/00/*", 400, "invalid pattern"},
		{"GET", "/matches/x@" + zeros, 400, "invalid pattern"},
		{"GET", "/matches/00.*", 400, "invalid pattern"},
		{"GET", "/matches/{42}", 400, "metadata labels"},
		{"GET", "/matches?unspent&spent", 400, "exclude each other"},
		{"GET", "/matches?unspent=true", 400, "without a value"},
		{"GET", "/matches?resolve_hashes=1", 400, "without a value"},
		{"GET", "/matches?order=newest", 400, "most_recent_first"},
		{"GET", "/matches?order=oldest_first&order=oldest_first", 400, "once"},
		{"GET", "/matches?created_after=x", 400, "invalid range"},
		{"GET", "/matches?created_after=1&spent_after=1", 400, "invalid range"},
		{"GET", "/matches?asset_name=00", 400, "policy_id"},
		{"GET", "/matches?output_index=0", 400, "transaction_id"},
		{"GET", "/matches?policy_id=" + zeros[:56] + "&transaction_id=" + zeros, 400, "invalid filter"},
		{"GET", "/matches?created_before=60." + zeros, 400, "no block"},
		{"DELETE", "/matches/*", 400, "nothing can be deleted"},
		{"DELETE", "/matches/x", 400, "invalid pattern"},
		{"DELETE", "/matches/" + zeros[:56] + "/*", 400, "nothing can be deleted"},
		{"DELETE", "/patterns/x", 400, "invalid pattern"},
		{"DELETE", "/datums/" + zeros, 406, "method"},
		{"PUT", "/health", 406, "method"},
		{"GET", "/patterns/{x}", 400, "invalid pattern"},
		{"DELETE", "/patterns/*", 400, "nothing can be deleted"},
		{"GET", "/patterns/x", 400, "invalid pattern"},
		{"GET", "/datums/00", 400, "64 hex digits"},
		{"GET", "/datums", 404, "no such endpoint"},
		{"GET", "/scripts/00", 400, "56 hex digits"},
		{"GET", "/checkpoints/x", 400, "slot"},
		{"GET", "/checkpoints/1?loose", 400, "strict"},
		{"GET", "/metadata/x", 400, "slot"},
		{"GET", "/metadata/99999999999", 400, "no block"},
		{"GET", "/metadata/1?policy_id=00", 400, "transaction_id"},
	} {
		a := w.ask(t, test.method, test.url)
		var e struct{ Hint string }
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != test.status || !strings.Contains(e.Hint, test.says) {
			t.Errorf("%s %s: %d %s, expected %d with %q", test.method, test.url, a.status, a.body, test.status, test.says)
		}
	}
	a := w.ask(t, "GET", "/health", "Accept", "image/png")
	if a.status != http.StatusBadRequest || !strings.Contains(a.body, "Accept") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Answers have the tip to which they belong. A conditional request at the same tip returns 304.
func TestAnswersNameTheTip(t *testing.T) {
	w := preview(t, true, 100)
	tip := w.naive.blocks[100]
	for _, endpoint := range []string{"/matches/*", "/v1/matches", "/checkpoints", "/health", "/metrics"} {
		a := w.ask(t, "GET", endpoint)
		if a.status != http.StatusOK || a.header.Get("Etag") != tip.Hash.String() ||
			a.header.Get("X-Most-Recent-Checkpoint") != fmt.Sprint(tip.Slot) {
			t.Errorf("%s: %d %v", endpoint, a.status, a.header)
		}
	}
	for _, etag := range []string{tip.Hash.String(), `"` + tip.Hash.String() + `"`} {
		if a := w.ask(t, "GET", "/matches/*", "If-None-Match", etag); a.status != http.StatusNotModified || a.body != "" {
			t.Errorf("%s: %d %s", etag, a.status, a.body)
		}
	}
	a := w.ask(t, "GET", "/matches/*?unspent", "Accept", "application/json;asset-quantity=string")
	if !strings.Contains(a.body, `"coins":"`) || !strings.Contains(a.header.Get("Content-Type"), "asset-quantity=string") {
		t.Errorf("%v %s", a.header, a.body)
	}
	if a := w.ask(t, "GET", "/matches/x", "If-None-Match", tip.Hash.String()); a.status != http.StatusBadRequest || a.header.Get("Etag") != "" {
		t.Errorf("an invalid pattern: %d %v", a.status, a.header)
	}
	for _, endpoint := range []string{"/matches", "/v1/datums/00", "/patterns/*", "/health"} {
		if a := w.ask(t, "OPTIONS", endpoint); a.status != http.StatusOK || a.body != "" {
			t.Errorf("OPTIONS %s: %d %s", endpoint, a.status, a.body)
		}
	}
	for _, method := range []string{"GET", "PUT"} {
		if a := w.ask(t, method, "/patterns"); a.body != `["*"]` {
			t.Errorf("%s: %s", method, a.body)
		}
	}
}

// Checkpoints are blocks of the chain, found by slot.
func TestCheckpoints(t *testing.T) {
	w := preview(t, true, 2_000)
	blocks := w.naive.blocks
	for _, p := range []model.Point{blocks[0], blocks[1], blocks[777], blocks[2_000]} {
		for slot, strict := range map[uint64]bool{p.Slot: true, p.Slot + 1: false} {
			want := any(pointJSON(p))
			if got := w.get(t, fmt.Sprintf("/checkpoints/%d", slot)); !reflect.DeepEqual(got, want) {
				t.Errorf("slot %d: %v, expected %v", slot, got, want)
			}
			if !strict {
				want = nil
			}
			if got := w.get(t, fmt.Sprintf("/checkpoints/%d?strict", slot)); !reflect.DeepEqual(got, want) {
				t.Errorf("slot %d, strict: %v, expected %v", slot, got, want)
			}
		}
	}
	list := w.get(t, "/checkpoints").([]any)
	if len(list) < 10 || !reflect.DeepEqual(list[0], any(pointJSON(blocks[2_000]))) {
		t.Fatalf("%v", list)
	}
	at := len(blocks)
	for _, p := range list {
		i := slices.IndexFunc(blocks, func(b model.Point) bool { return reflect.DeepEqual(any(pointJSON(b)), p) })
		if i < 0 || i >= at {
			t.Errorf("%v is at block %d, after block %d", p, i, at)
		}
		at = i
	}
}

// The state of a server is JSON, or metrics for a client that accepts anything, as Kupo answers.
func TestHealth(t *testing.T) {
	w := newWorld(t, "preview", true)
	a := w.ask(t, "GET", "/health")
	if !strings.HasPrefix(a.body, `{"connection_status":"connected","most_recent_checkpoint":null,`) {
		t.Errorf("before the first block: %d %s", a.status, a.body)
	}
	w.sync(t, "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), 50)
	a = w.ask(t, "GET", "/health", "Accept", "application/json")
	var state struct {
		Checkpoint uint64      `json:"most_recent_checkpoint"`
		Tip        uint64      `json:"most_recent_node_tip"`
		Seconds    int64       `json:"seconds_since_last_block"`
		Progress   json.Number `json:"network_synchronization"`
		Version    string
	}
	slot := w.naive.blocks[50].Slot
	if err := json.Unmarshal([]byte(a.body), &state); err != nil || state.Checkpoint != slot || state.Tip != slot ||
		state.Seconds < 1 || !strings.HasPrefix(string(state.Progress), "0.00") || !strings.Contains(state.Version, "2.12") {
		t.Errorf("%s %v", a.body, err)
	}
	a = w.ask(t, "GET", "/metrics", "Accept", "*/*")
	if !strings.Contains(a.body, fmt.Sprintf("kupo_most_recent_checkpoint  %d\n", slot)) || a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}
