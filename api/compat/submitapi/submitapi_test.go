package submitapi_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/api/compat/submitapi"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/model"
)

// away is a node that cannot be reached.
type away struct{ model.Submitter }

func (away) Submit(context.Context, []byte, model.SubmitOptions) (model.Hash, error) {
	return model.Hash{}, model.Errorf(model.BadSource, "unreachable", "%w", errors.New("no node listens"))
}

// The API needs Cardano and a node. Paths, methods and content types are those of cardano-submit-api.
func TestRequestsAndRefusals(t *testing.T) {
	preview, err := cardano.New("preview")
	if err != nil {
		t.Fatal(err)
	}
	other, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]*served.Chain{
		"for cardano only":  {Name: "bitcoin-regtest", Model: other, Submitter: away{}},
		"unix:///path/to/n": {Name: "cardano-preview", Model: preview},
	} {
		_, err := submitapi.New(submitapi.Options{Chain: c, Path: "/api/submit"})
		if kind, _ := model.KindOf(err); kind != model.Refused || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	h, err := submitapi.New(submitapi.Options{Chain: &served.Chain{Name: "cardano-preview", Model: preview, Submitter: away{}}, Path: "/api/submit"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, kind string
		status             int
		says               string
	}{
		{"POST", "/api/submit/tx", "application/cbor", 502, "no node listens"},
		{"POST", "/api/submit/tx", "", 415, ""},
		{"POST", "/api/submit", "application/cbor", 404, ""},
		{"GET", "/api/submit/tx", "", 405, ""},
		{"OPTIONS", "/api/submit/tx", "", 204, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader("\x80"))
		r.Header.Set("Content-Type", c.kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}
