package ogmios_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/ogmios"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core/meter"
	"birthmark/internal/testrun"
)

// large is a request whose answer has its size, because the answer has the id.
var large = fmt.Sprintf(`{"jsonrpc":"2.0","method":"unknown","id":%q}`, strings.Repeat("x", 200<<10))

// A connection whose client does not read ends, and nothing of it is left.
func TestAClientThatDoesNotReadIsDisconnected(t *testing.T) {
	e := start(t)
	e.Handler = answertest.Limited(t, 1, ogmios.New(ogmios.Options{
		Path: path, Origins: []string{"*"}, WriteTimeout: time.Millisecond,
		Chain: &served.Chain{Name: "cardano-test", Model: e.chain.Model, Node: broken{}},
	}))
	s := e.dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), testrun.Patience)
	defer cancel()
	for s.c.Write(ctx, websocket.MessageText, []byte(large)) == nil { // until the server closes the connection
	}
	if ctx.Err() != nil {
		t.Error("the connection remains")
	}
}

// Unsent answers count against the memory for answers. If that is used up, a request gets an error, and the connection
// remains open.
func TestAnswersAreHeldInTheMemoryForAnswers(t *testing.T) {
	e := start(t)
	o := ratelimit.Defaults()
	o.Memory = meter.NewBudget(1 << 10)
	e.Handler = ratelimit.New(o, ogmios.New(ogmios.Options{
		Path: path, Origins: []string{"*"}, Chain: &served.Chain{Name: "cardano-test", Model: e.chain.Model, Node: broken{}},
	}))
	const small = `{"jsonrpc":"2.0","method":"unknown"}`
	check := func(what string, o object, code string) {
		t.Helper()
		failed, _ := o["error"].(object)
		if fmt.Sprint(failed["code"]) != code {
			t.Errorf("%s: %.300v, expected error %s", what, o, code)
		}
	}
	s := e.dial(t)
	for _, c := range []struct{ text, code string }{{small, "-32601"}, {large, "-32000"}, {small, "-32601"}} {
		if err := s.c.Write(t.Context(), websocket.MessageText, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		s.c.SetReadLimit(1 << 20)
		_, text, err := s.c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check("WebSocket", parsed(t, text), c.code)
		status, a := e.post(t, c.text)
		check("HTTP", a, c.code)
		if status != http.StatusBadRequest {
			t.Errorf("status %d", status)
		}
	}
}
