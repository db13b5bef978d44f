package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// walker sends requests of every operation to a served chain, and checks every answer against the document.
type walker struct {
	*testing.T
	h       *site
	rng     *rand.Rand
	name    string
	asked   int
	problem int // number of requests with a client error
}

func (w *walker) path(words ...string) string {
	for i := range words {
		words[i] = url.PathEscape(words[i])
	}
	return "/v1/" + w.name + "/" + strings.Join(words, "/")
}

// get returns the body of a response, or nil for a documented error.
func (w *walker) get(target string, headers ...string) []byte {
	w.Helper()
	return w.checked(target, ask(w.h, "GET", target, "", headers...))
}

func (w *walker) post(what string, body any) []byte {
	w.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		w.Fatal(err)
	}
	target := w.path(what)
	r := httptest.NewRequest("POST", target, nil)
	answer := ask(w.h, "POST", target, string(text))
	conforms(w.T, r, answer)
	if answer.Code != 200 || answer.Header().Get("X-Tip") == "" {
		w.Fatalf("POST %s %s: %d %s", target, text, answer.Code, answer.Body)
	}
	return answer.Body.Bytes()
}

func (w *walker) checked(target string, answer *httptest.ResponseRecorder) []byte {
	w.Helper()
	w.asked++
	conforms(w.T, httptest.NewRequest("GET", target, nil), answer)
	if answer.Code != 200 {
		w.problem++
		return nil
	}
	return answer.Body.Bytes()
}

// decoded returns the decoded answer, which must exist.
func decoded[A any](w *walker, target string) (a A) {
	w.Helper()
	body := w.get(target)
	if body == nil {
		w.Fatalf("%s has no answer", target)
	}
	if err := json.Unmarshal(body, &a); err != nil {
		w.Fatalf("%s: %v", target, err)
	}
	return a
}

// list returns a whole list. The pages of a random size must equal the streamed list, also if it is resumed.
func (w *walker) list(path, entries string, query ...string) (list []json.RawMessage) {
	w.Helper()
	limit := 1 + w.rng.IntN(40)
	next := ""
	for {
		var page map[string]json.RawMessage
		body := w.get(w.query(path, append(query, next, "limit="+strconv.Itoa(limit))...))
		if body == nil {
			w.Fatalf("%s %v has no answer", path, query)
		}
		var some []json.RawMessage
		var cursor *string
		if json.Unmarshal(body, &page) != nil || json.Unmarshal(page[entries], &some) != nil || json.Unmarshal(page["next"], &cursor) != nil {
			w.Fatalf("%s: %s", path, body)
		}
		if len(some) > limit {
			w.Errorf("%s: a page of %d, the limit is %d", path, len(some), limit)
		}
		list = append(list, some...)
		if cursor == nil {
			break
		}
		next = "after=" + url.QueryEscape(*cursor)
	}
	whole := w.streamed(path, query...)
	pieces := w.pieces(path, 1+w.rng.IntN(120), query...)
	same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	if !slices.EqualFunc(list, whole, same) || !slices.EqualFunc(list, pieces, same) {
		w.Errorf("%s %v: %d entries in pages, %d streamed, %d in pieces", path, query, len(list), len(whole), len(pieces))
	}
	return list
}

func (w *walker) query(path string, parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	w.rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	if len(parts) == 0 {
		return path
	}
	return path + "?" + strings.Join(parts, "&")
}

func (w *walker) streamed(path string, query ...string) []json.RawMessage {
	w.Helper()
	list, end := w.stream(w.query(path, slices.Clone(query)...))
	if !end.Complete || end.Next != nil || end.Reason != "" {
		w.Errorf("%s ended with %+v", path, end)
	}
	return list
}

func (w *walker) pieces(path string, limit int, query ...string) (list []json.RawMessage) {
	w.Helper()
	next := ""
	for {
		some, end := w.stream(w.query(path, append(slices.Clone(query), next, fmt.Sprintf("limit=%d", limit))...))
		list = append(list, some...)
		if end.Complete {
			return list
		}
		if end.Reason != "limit" || end.Next == nil || len(some) != limit {
			w.Fatalf("%s: %d entries of %d, then %+v", path, len(some), limit, end)
		}
		next = "after=" + url.QueryEscape(*end.Next)
	}
}

// stream returns the entries of a stream and its last line.
func (w *walker) stream(target string) ([]json.RawMessage, api.StreamEnding) {
	w.Helper()
	answer := ask(w.h, "GET", target, "", "Accept", "application/x-ndjson")
	if answer.Code != 200 || answer.Header().Get("Content-Type") != "application/x-ndjson" || answer.Header().Get("X-Tip") == "" {
		w.Fatalf("%s streamed: %d %v %s", target, answer.Code, answer.Header(), answer.Body)
	}
	list, end, err := readStream(answer.Body.Bytes())
	if err != nil {
		w.Fatalf("%s streamed: %v", target, err)
	}
	return list, end
}

func readStream(body []byte) (list []json.RawMessage, end api.StreamEnding, err error) {
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		list = append(list, slices.Clone(lines.Bytes()))
	}
	if len(list) == 0 {
		return nil, end, fmt.Errorf("no line")
	}
	last := list[len(list)-1]
	list = list[:len(list)-1]
	var e api.StreamEnd
	d := json.NewDecoder(bytes.NewReader(last))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return nil, end, fmt.Errorf("the last line is %s", last)
	}
	if e.End.Count != len(list) {
		return nil, end, fmt.Errorf("%d entries, the last line counts %d", len(list), e.End.Count)
	}
	return list, e.End, nil
}

// All operations on all kinds of chains: answers match the OpenAPI document, streams equal pages, and
// batches equal single requests.
func TestAnswersMatchTheOpenAPIDocument(t *testing.T) {
	testrun.Slow(t)
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 901)
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, RawFiles: v.Placed})
		if err != nil {
			t.Fatal(err)
		}
		blocks := v.NewGenerator(n).Blocks(24)
		if err := db.Append(t.Context(), blocks[:20]); err != nil {
			t.Fatal(err)
		}
		if err := db.Append(t.Context(), blocks[20:]); err != nil {
			t.Fatal(err)
		}
		h, log := handler(t, api.Options{Events: noEvents}, map[string]*core.DB{"one": db})
		w := &walker{T: t, h: h, rng: rand.New(rand.NewPCG(n, 0)), name: "one"}
		w.walk()
		if log.Len() > 0 {
			t.Errorf("logged: %s", log)
		}
		if w.asked < 400 || w.problem == 0 {
			t.Errorf("only %d requests, %d with errors", w.asked, w.problem)
		}
	})
}

func (w *walker) walk() {
	for _, path := range []string{"status", "indexes", "schema", "fields", "block/tip", "tx/00", "block/4000000"} {
		w.get("/v1/one/" + path)
	}
	w.get("/v1")
	w.list(w.path("forks"), "forks")
	var hashes, outputs []string
	for _, entry := range w.list(w.path("blocks"), "blocks", "order=desc") {
		var b query.BlockSummaryAnswer
		if err := json.Unmarshal(entry, &b); err != nil {
			w.Fatal(err)
		}
		block := decoded[query.BlockAnswer](w, w.path("block", b.Hash))
		if same := w.get(w.path("block", strconv.Itoa(int(b.Height)))); !bytes.Equal(same, w.get(w.path("block", b.Hash))) {
			w.Errorf("block %d is not block %s", b.Height, b.Hash)
		}
		for _, hash := range block.Txs {
			tx := decoded[query.TxAnswer](w, w.path("tx", hash))
			w.get(w.path("tx", hash, "raw"))
			hashes = append(hashes, hash)
			for _, o := range tx.Outputs {
				outputs = append(outputs, fmt.Sprintf("%s:%d", o.Tx, o.Index))
			}
		}
	}
	w.batches(hashes, outputs)
	for _, index := range modeltest.IndexNames {
		w.values(index)
	}
	w.assets()
}

// spending is an output and its spender in an answer.
type spending struct {
	Tx      string
	Index   int
	SpentBy json.RawMessage `json:"spent_by"`
}

func (w *walker) batches(hashes, outputs []string) {
	for len(outputs) > 0 {
		n := min(len(outputs), 1+w.rng.IntN(200))
		some := append(outputs[:n:n], strings.Repeat("ab", 32)+":0")
		outputs = outputs[n:]
		var found struct{ Outputs []json.RawMessage }
		var spends struct{ Spends []*spending }
		if json.Unmarshal(w.post("outputs", api.OutputRefs{Outputs: some}), &found) != nil || json.Unmarshal(w.post("spends", api.OutputRefs{Outputs: some}), &spends) != nil ||
			len(found.Outputs) != len(some) || len(spends.Spends) != len(some) || string(found.Outputs[n]) != "null" || spends.Spends[n] != nil {
			w.Fatalf("%d outputs at once: %d, %d", len(some), len(found.Outputs), len(spends.Spends))
		}
		for i, ref := range some[:n] {
			one := w.get(w.path("output", ref))
			if !bytes.Equal(append(found.Outputs[i], '\n'), one) {
				w.Errorf("output %s: %s at once, %s alone", ref, found.Outputs[i], one)
			}
			var o spending
			if json.Unmarshal(one, &o) != nil || o.Tx != spends.Spends[i].Tx || o.Index != spends.Spends[i].Index || !bytes.Equal(o.SpentBy, spends.Spends[i].SpentBy) || o.SpentBy == nil {
				w.Errorf("output %s is spent by %s, at once by %s", ref, o.SpentBy, spends.Spends[i].SpentBy)
			}
		}
	}
	for len(hashes) > 0 {
		n := min(len(hashes), 1+w.rng.IntN(100))
		var found struct{ Txs []json.RawMessage }
		if json.Unmarshal(w.post("txs", api.TxHashes{Txs: hashes[:n]}), &found) != nil || len(found.Txs) != n {
			w.Fatalf("%d transactions at once: %d", n, len(found.Txs))
		}
		for i, hash := range hashes[:n] {
			if one := w.get(w.path("tx", hash)); !bytes.Equal(append(found.Txs[i], '\n'), one) {
				w.Errorf("transaction %s: %s at once, %s alone", hash, found.Txs[i], one)
			}
		}
		hashes = hashes[n:]
	}
}

func (w *walker) values(index string) {
	w.get(w.path("richest", index) + "?limit=5")
	w.get(w.path("values", index) + "?prefix=a")
	var texts []string
	for _, entry := range w.list(w.path("values", index), "values", "order="+[]string{"asc", "desc"}[w.rng.IntN(2)]) {
		var v query.ValueAnswer
		if err := json.Unmarshal(entry, &v); err != nil {
			w.Fatal(err)
		}
		texts = append(texts, v.Value)
	}
	if len(texts) == 0 {
		return
	}
	var found struct{ Balances []json.RawMessage }
	some := texts[:min(len(texts), query.MaxMany)]
	if json.Unmarshal(w.post("balances", api.IndexValues{Index: index, Values: some}), &found) != nil || len(found.Balances) != len(some) {
		w.Fatalf("%d balances at once: %d", len(some), len(found.Balances))
	}
	for i, text := range some {
		if one := w.get(w.path("balance", index, text)); !bytes.Equal(append(found.Balances[i], '\n'), one) {
			w.Errorf("%s %s: %s at once, %s alone", index, text, found.Balances[i], one)
		}
	}
	for range 12 {
		text := texts[w.rng.IntN(len(texts))]
		term := url.QueryEscape(index + "=" + texts[w.rng.IntN(len(texts))])
		w.list(w.path("find", index, text), "outputs", []string{"", "unspent=true"}[w.rng.IntN(2)], []string{"", "or=" + term, "and=" + term}[w.rng.IntN(3)],
			"height_from="+strconv.Itoa(w.rng.IntN(20)), []string{"", "order=desc"}[w.rng.IntN(2)])
		w.list(w.path("history", index, text), "txs", []string{"", "height_to=25"}[w.rng.IntN(2)])
	}
}

func (w *walker) assets() {
	for i, entry := range w.list(w.path("assets"), "assets") {
		var a query.AssetAnswer
		if err := json.Unmarshal(entry, &a); err != nil {
			w.Fatal(err)
		}
		if one := w.get(w.path("asset", a.Asset)); !bytes.Equal(append(entry, '\n'), one) {
			w.Errorf("asset %s: %s in the list, %s alone", a.Asset, entry, one)
		}
		if i%5 > 0 {
			continue
		}
		w.list(w.path("asset", a.Asset, "events"), "events", "height_from=2")
		w.list(w.path("asset", a.Asset, "holders"), "holders")
		w.list(w.path("find", "asset", a.Asset), "outputs")
		w.get(w.path("richest", "address") + "?asset=" + url.QueryEscape(a.Asset))
	}
}
