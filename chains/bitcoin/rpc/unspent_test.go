package rpc

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

func TestUnspentIsExact(t *testing.T) {
	f := newFake(t, 6)
	best := block.FormatHash(f.point(5).Hash)
	result := func(total string) string {
		return fmt.Sprintf(`{"height":5,"bestblock":"%s","txouts":173805437,"bogosize":1,"total_amount":%s,"transactions":7}`, best, total)
	}
	for total, want := range map[string]uint64{
		"19849999.99999999": 1984999999999999, "0.00000001": 1, "0": 0, "21000000.00000000": 2100000000000000, "12.5": 1250000000,
		"20999999.97690000": 2099999997690000,
	} {
		f.set(func() { f.unspent = result(total) })
		got, err := f.client("", nil).Unspent(t.Context())
		if err != nil || got != (model.UnspentTotals{At: f.point(5), Outputs: 173805437, Value: want}) {
			t.Errorf("%s: %+v, %v", total, got, err)
		}
	}
	for _, bad := range []string{
		result("1e3"), result("-1.00000000"), result("0.123456789"), result("null"), result("99999999999999999999"), `{}`, `[]`, `null`, `7`,
		strings.Replace(result("1"), best, "00", 1), strings.Replace(result("1"), "173805437", "-1", 1),
	} {
		f.set(func() { f.unspent = bad })
		_, err := f.client("", nil).Unspent(t.Context())
		expect(t, err, "bad_answer", false, "gettxoutsetinfo returned")
	}
	c := f.client("", nil)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.first = only(says(200, "[]")) })
	_, err := c.Unspent(t.Context())
	expect(t, err, "bad_answer", false, "gettxoutsetinfo returned nothing")
}

func TestUnspentIsUnsupported(t *testing.T) {
	f := newFake(t, 6)
	offered := func(c *Client, says string) {
		t.Helper()
		_, err := c.Unspent(t.Context())
		if kind, code := model.KindOf(err); kind != model.NotFound || code != "not_offered" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected %s", code, err, says)
		}
	}
	offered(f.client("", nil), "cannot count the unspent outputs: Method not found (-32601)")
	f.set(func() { f.errors["gettxoutsetinfo"] = rpcError{-32602, "wrong number of params"} })
	offered(f.client("", nil), "cannot count the unspent outputs: wrong number of params (-32602)")
	f.set(func() { f.rest, f.auth = true, "user:"+password })
	offered(f.client("", nil), "cannot count the unspent outputs over REST")
	f.set(func() { f.errors["gettxoutsetinfo"] = rpcError{-28, "Loading"} })
	_, err := f.client("user:"+password+"@", nil).Unspent(t.Context())
	expect(t, err, "starting", true, "is starting: Loading")
	f.set(func() { f.errors["gettxoutsetinfo"] = rpcError{-32603, "Unable to read UTXO set"} })
	_, err = f.client("user:"+password+"@", nil).Unspent(t.Context())
	expect(t, err, "node_error", false, "gettxoutsetinfo: Unable to read UTXO set")
}

// Counting has no time limit.
func TestUnspentHasNoTimeLimit(t *testing.T) {
	f := newFake(t, 2)
	f.set(func() {
		f.unspent = fmt.Sprintf(`{"height":1,"bestblock":"%s","txouts":1,"total_amount":50.00000000}`, block.FormatHash(f.point(1).Hash))
	})
	c := f.client("", nil)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.http.HeaderTimeout = 1
	if got, err := c.Unspent(t.Context()); err != nil || got.Value != 50_0000_0000 {
		t.Errorf("%+v, %v", got, err)
	}
	// Other calls have a time limit: the node does not respond before the client gives up.
	f.set(func() {
		f.first = func(_ http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body) // the server notices the disconnect after reading the whole request
			<-r.Context().Done()
			return true
		}
	})
	_, err := c.Tip(t.Context())
	expect(t, err, "unreachable", true, "sent no data")
}
