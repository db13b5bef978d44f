package bench

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// small is a server of blocks with two transactions each that counts its requests.
func small(t *testing.T, fails func(path string) bool) (url string, asked func() map[string]int) {
	counts := map[string]*atomic.Int64{}
	mux := http.NewServeMux()
	handle := func(path string, answer func(r *http.Request) any) {
		n := &atomic.Int64{}
		counts[strings.Split(path, "/")[1]] = n
		mux.HandleFunc("GET /v1/toy"+path, func(w http.ResponseWriter, r *http.Request) {
			n.Add(1)
			if fails(r.URL.Path) {
				http.Error(w, "no", http.StatusServiceUnavailable)
				return
			}
			if err := json.NewEncoder(w).Encode(answer(r)); err != nil {
				t.Error(err)
			}
		})
	}
	handle("/status", func(*http.Request) any {
		return query.StatusAnswer{Tip: &query.TipAnswer{Height: 9}, Totals: query.TotalsAnswer{Txs: 20},
			Indexes: []query.IndexAnswer{{Name: "box", Kind: "one-to-one"}, {Name: "address", Kind: "one-to-many"}}}
	})
	handle("/block/{h}", func(r *http.Request) any {
		return query.BlockAnswer{Txs: []string{r.PathValue("h") + "a", r.PathValue("h") + "b"}}
	})
	handle("/tx/{tx}", func(r *http.Request) any {
		tx := r.PathValue("tx")
		return query.TxAnswer{Hash: tx, Outputs: []query.OutputAnswer{{Tx: tx, Keys: map[string]any{"address": "of " + tx, "box": tx}}}}
	})
	handle("/find/{index}/{value}", func(r *http.Request) any {
		var a query.FindAnswer
		v, limit := r.PathValue("value"), r.URL.Query().Get("limit")
		if hot := strings.HasSuffix(v, "a"); hot && limit != "" {
			a.Next = &v
		} else if hot || r.PathValue("index") != "address" {
			t.Errorf("%s was requested, but is not an ordinary value", v)
		}
		return a
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/v1/toy", func() map[string]int {
		all := map[string]int{}
		for name, n := range counts {
			all[name] = int(n.Load())
		}
		return all
	}
}

// when returns a channel that is closed once the condition holds.
func when(t *testing.T, so func() bool) <-chan struct{} {
	end := make(chan struct{})
	go func() {
		defer close(end)
		for !so() && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}()
	return end
}

func TestLoadRequestsAMixAndCountsAnswers(t *testing.T) {
	url, asked := small(t, func(string) bool { return false })
	var before map[string]int
	o := LoadOptions{URL: url, Connections: 4, For: time.Hour, Mix: map[string]int{"tx": 6, "find": 3, "block": 1}, Samples: 30, Seed: testseed.New(t)}
	o.Begin = func(context.Context) (<-chan struct{}, error) {
		before = asked()
		return when(t, func() bool { return asked()["tx"] >= before["tx"]+600 }), nil
	}
	r, err := Load(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for kind, l := range r.Kinds {
		if served := asked()[kind] - before[kind]; l.Count != served || l.P50 <= 0 || l.P50 > l.Max {
			t.Errorf("%s: the server counted %d requests, %+v", kind, served, l)
		}
		sum += l.Count
	}
	if sum != r.Requests || sum != r.Millis.Count || r.Errors != 0 || len(r.Failed) != 0 || r.Bytes < int64(sum) || r.RequestsPerSecond <= 0 {
		t.Errorf("%+v", r)
	}
	if tx, block := r.Kinds["tx"].Count, r.Kinds["block"].Count; block == 0 || tx < 3*block {
		t.Errorf("%d transactions and %d blocks", tx, block)
	}
}

func TestLoadRate(t *testing.T) {
	url, _ := small(t, func(string) bool { return false })
	r, err := Load(t.Context(), LoadOptions{URL: url, Connections: 8, For: 300 * time.Millisecond, Rate: 200, Mix: map[string]int{"tx": 1}, Samples: 5})
	if err != nil {
		t.Fatal(err)
	}
	// Every due request is sent, late on a slow machine but never early.
	if most := int(200*r.Seconds) + 8; r.Requests > most {
		t.Errorf("%d requests in %.3f s, expected %d at most", r.Requests, r.Seconds, most)
	}
}

func TestLoadReportsFailures(t *testing.T) {
	var begun atomic.Bool
	url, asked := small(t, func(path string) bool { return begun.Load() && strings.HasPrefix(path, "/v1/toy/tx/") })
	r, err := Load(t.Context(), LoadOptions{URL: url, Connections: 2, For: time.Hour, Mix: map[string]int{"tx": 1, "block": 1}, Samples: 5,
		Begin: func(context.Context) (<-chan struct{}, error) {
			begun.Store(true)
			before := asked()["tx"]
			return when(t, func() bool { return asked()["tx"] > before }), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Errors == 0 || r.Failed["status 503"] != r.Errors || r.Kinds["tx"].Count != 0 || len(r.Failed) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestLoadRejectsInvalidOptions(t *testing.T) {
	url, _ := small(t, func(string) bool { return false })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, c := range []struct {
		url, kind, says string
		is              model.ErrorKind
	}{
		{"127.0.0.1:80", "tx", "expected the URL of a chain", model.Usage},
		{"https://127.0.0.1:80/v1/toy", "tx", "expected the URL of a chain", model.Usage},
		{strings.TrimSuffix(url, "/v1/toy"), "tx", "expected the URL of a chain", model.Usage},
		{url, "txs", "invalid weight txs=1", model.Usage},
		{url + "s", "tx", "status 404", model.BadSource},
		{url, "history", "status 404, expected 200", model.BadSource},
		{"http://" + closed.Addr().String() + "/v1/toy", "tx", "refused", model.BadSource},
	} {
		_, err := Load(t.Context(), LoadOptions{URL: c.url, Connections: 1, For: time.Second, Mix: map[string]int{c.kind: 1}, Samples: 5})
		if kind, _ := model.KindOf(err); err == nil || kind != c.is || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %s: %v", c.url, c.kind, err)
		}
	}
}

func TestRequestPaths(t *testing.T) {
	at, err := loadURL("http://h:80/v1/toy/")
	if err != nil {
		t.Fatal(err)
	}
	p := &sample{index: "address", txs: []string{"t"}, blocks: []string{"7"}, outputs: []string{"t:0"}, values: []string{"a/b c"}}
	for kind, want := range map[string]string{
		"tx": "/v1/toy/tx/t", "block": "/v1/toy/block/7", "output": "/v1/toy/output/t:0", "find": "/v1/toy/find/address/a%2Fb%20c",
		"page_home": "/toy", "page_tx": "/toy/tx/t", "esplora_tx": "/api/tx/t", "esplora_address_utxo": "/api/address/a%2Fb%20c/utxo",
		"page_value": "/toy/address/a%2Fb%20c",
	} {
		got, err := p.requests(kind, at, "/api")
		if err != nil || len(got) != 1 || string(got[0]) != "GET "+want+" HTTP/1.1\r\nHost: h:80\r\n\r\n" {
			t.Errorf("%s: %q (%v)", kind, got, err)
		}
	}
	p.index = "tag"
	if got, err := p.requests("page_value", at, ""); err != nil || !strings.HasPrefix(string(got[0]), "GET /toy/index/tag/a%2Fb%20c ") {
		t.Errorf("%q (%v)", got, err)
	}
	if _, err := (&sample{}).requests("tx", at, ""); err == nil {
		t.Error("requests without a sample")
	}
}

func TestWatch(t *testing.T) {
	stop := Watch()
	u := stop()
	if len(u.RSS) < 2 || u.RSS[0] <= 0 || u.CPUSeconds < 0 || u.Grown() != 0 && len(u.RSS) < 3 {
		t.Errorf("%+v", u)
	}
	u = Usage{RSS: []int64{1, 5, 9, 12, 11, 15}}
	if u.Grown() != 6 {
		t.Errorf("grown by %d", u.Grown())
	}
}
