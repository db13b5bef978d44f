package submitapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/submitapi"
	"birthmark/api/served"
	"birthmark/chains/cardano"
	"birthmark/model"
)

// away is a node that answers err to a transaction.
type away struct {
	model.Submitter
	err error
}

func (a away) Submit(context.Context, []byte, model.SubmitOptions) (model.Hash, error) {
	return model.Hash{}, a.err
}

// transaction is a node's transaction without inputs and outputs.
const transaction = "\x84\xa3\x00\x80\x01\x80\x02\x00\xa0\xf5\xf6"

// answers of cardano-submit-api, by what happens to a transaction. The source of the first one is swagger.yaml in the
// folder cardano-submit-api of IntersectMBO/cardano-node; of the second and third, issue 19 of
// blockfrost/blockfrost-platform, whose program answers in the same form. No recorded answer without a node was found: the
// last one follows the encoder (src/Cardano/TxSubmit/Types.hs in that folder). The original has the status 400 there,
// and this server 502, as all its APIs.
var answers = []struct {
	name, body   string
	node         error
	status       int
	answer, says string
}{
	{"accepted", transaction, nil, 202, `"92bcd06b25dfbd89b578d536b4d3b7dd269b7c2aa206ed518012cffe0444d67f"`, ""},
	{"refused", transaction, &model.NodeError{Message: "FeeTooSmallUTxO 2, 1"}, 400, `{"contents":{"contents":{"contents":{"era":"ShelleyBasedEraConway",
		"error":["ConwayUtxowFailure (UtxoFailure (FeeTooSmallUTxO (Coin 166909) (Coin 173)))"],"kind":"ShelleyTxValidationError"},
		"tag":"TxValidationErrorInCardanoMode"},"tag":"TxCmdTxSubmitValidationError"},"tag":"TxSubmitFail"}`, "FeeTooSmallUTxO 2, 1"},
	{"malformed", "\x80", nil, 400, `{"contents":{"contents":["DecoderErrorDeserialiseFailure \"Shelley Tx\" (DeserialiseFailure 0 \"expected list len or indef\")"],
		"tag":"TxCmdTxReadError"},"tag":"TxSubmitFail"}`, "no transaction"},
	{"without a node", transaction, model.Errorf(model.BadSource, "unreachable", "no node listens"), 502,
		`{"contents":{"contents":"Network.Socket.connect: does not exist","tag":"TxCmdTxSubmitConnectionError"},"tag":"TxSubmitFail"}`, "no node listens"},
}

// Answers have the shape and the tags of those of cardano-submit-api.
func TestAnswersHaveTheShapeOfTheOriginals(t *testing.T) {
	preview, err := cardano.New("preview")
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`"tag":"\w+"`)
	for _, real := range answers {
		h := submitapi.New(submitapi.Options{Chain: &served.Chain{Name: "cardano-preview", Model: preview, Submitter: away{err: real.node}}, Path: "/api/submit"})
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/submit/tx", strings.NewReader(real.body))
		r.Header.Set("Content-Type", "application/cbor")
		w := httptest.NewRecorder()
		answertest.Recorded(t, h).ServeHTTP(w, r)
		answertest.SameShape(t, real.name, w.Body.Bytes(), []byte(real.answer))
		got, want := tags.FindAllString(w.Body.String(), -1), tags.FindAllString(real.answer, -1)
		slices.Sort(got)
		slices.Sort(want)
		if w.Code != real.status || !slices.Equal(got, want) || !strings.Contains(w.Body.String(), real.says) {
			t.Errorf("%s: %d %s, expected %d %s", real.name, w.Code, w.Body, real.status, real.answer)
		}
	}
}

// Paths, methods and content types are those of cardano-submit-api.
func TestRequests(t *testing.T) {
	preview, err := cardano.New("preview")
	if err != nil {
		t.Fatal(err)
	}
	h := submitapi.New(submitapi.Options{Chain: &served.Chain{Name: "cardano-preview", Model: preview, Submitter: away{}}, Path: "/api/submit"})
	for _, c := range []struct {
		method, path, kind string
		status             int
		says               string
	}{
		{"POST", "/api/submit/tx", "", 415, ""},
		{"POST", "/api/submit", "application/cbor", 404, ""},
		{"GET", "/api/submit/tx", "", 405, ""},
		{"OPTIONS", "/api/submit/tx", "", 204, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader("\x80"))
		r.Header.Set("Content-Type", c.kind)
		w := httptest.NewRecorder()
		answertest.Recorded(t, h).ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

// panicking is a node whose first transaction panics.
type panicking struct {
	away
	done bool
}

func (p *panicking) Submit(ctx context.Context, raw []byte, o model.SubmitOptions) (model.Hash, error) {
	if !p.done {
		p.done = true
		panic("injected")
	}
	return p.away.Submit(ctx, raw, o)
}

// A panic ends one request, and leaves nothing of it.
func TestAPanicEndsItsRequestAlone(t *testing.T) {
	preview, err := cardano.New("preview")
	if err != nil {
		t.Fatal(err)
	}
	h := answertest.Limited(t, 1, submitapi.New(submitapi.Options{
		Chain: &served.Chain{Name: "cardano-preview", Model: preview, Submitter: &panicking{}}, Path: "/api/submit",
	}))
	submit := func() (status int) {
		defer func() {
			if recover() != nil {
				status = http.StatusInternalServerError
			}
		}()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/submit/tx", strings.NewReader(transaction))
		r.Header.Set("Content-Type", "application/cbor")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for i, want := range []int{http.StatusInternalServerError, http.StatusAccepted} {
		if got := submit(); got != want {
			t.Errorf("request %d: %d, expected %d", i, got, want)
		}
	}
}
