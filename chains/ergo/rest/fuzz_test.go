package rest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Any response of a node is accepted or reported in one line. Results contain only data of the response.
func FuzzAnswers(f *testing.F) {
	id := strings.Repeat("ab", 32)
	for _, seed := range []string{
		`{"appVersion":"6","network":"mainnet","fullHeight":3,"bestFullHeaderId":"` + id + `","genesisBlockId":null}`,
		`{"appVersion":"6","fullHeight":null,"headersHeight":5,"maxPeerHeight":7}`,
		`["` + id + `"]`, `[{"header":{"id":"` + id + `"}},{}]`, `{"error":404,"reason":"not-found","detail":null}`, "<html>", "", "[", `["\u00`,
	} {
		f.Add(200, []byte(seed))
		f.Add(503, []byte(seed))
		f.Add(404, []byte(seed))
	}
	type reply struct {
		status int
		body   []byte
	}
	var now atomic.Pointer[reply]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r := now.Load()
		w.WriteHeader(r.status)
		_, _ = w.Write(r.body)
	}))
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 || status == 204 || status == 304 { // statuses with a body
			return
		}
		now.Store(&reply{status, body})
		c := client(t, s.URL)
		named := func(what string, err error) {
			if err == nil || errors.Is(err, blocksource.ErrMoved) {
				return
			}
			if kind, code := model.KindOf(err); kind != model.BadSource || code == "" || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 600 {
				t.Errorf("%s: %v (%s)", what, err, code)
			}
		}
		tip, err := c.Tip(t.Context())
		named("Tip", err)
		if err == nil && tip.IsOrigin() {
			t.Error("an invalid tip is accepted")
		}
		c.full.Store(10)
		ids, err := c.Hashes(t.Context(), 1, 3)
		named("Hashes", err)
		if len(ids) > 3 {
			t.Errorf("%d ids of 3", len(ids))
		}
		taken := 0
		err = c.Blocks(t.Context(), []model.Hash{{1}, {2}}, func(raw []byte) (bool, error) {
			if taken++; !strings.Contains(string(body), string(raw)) {
				t.Errorf("a block that is not in the response: %q", raw)
			}
			return true, nil
		})
		named("Blocks", err)
		if taken > 2 {
			t.Errorf("%d blocks of 2", taken)
		}
		_, err = c.GenesisBoxes(t.Context())
		named("GenesisBoxes", err)
		named("Missing", c.Missing(t.Context(), model.Point{Height: 2, Hash: model.Hash{1}}))
	})
}
