package rpc

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/model"
)

// at answers the paths that begin with one of path by another.
func at(path string, other func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/rest/"+path) && other(w, r)
	}
}

// What has an answer for every path is no REST, and a node whose REST is too old for us is asked by JSON-RPC.
func TestWhatIsNoRESTIsNotTakenForIt(t *testing.T) {
	for what, first := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"a web site":            at("", says(200, "<html>")),
		"another API":           at("", says(200, `{"result":null}`)),
		"a gateway's":           at("", says(400, "bad request")),
		"endless":               at("", says(200, strings.Repeat("x", 2*smallAnswer))),
		"refused":               at("", says(403, "")),
		"a Core of 2018":        at("blockhashbyheight", says(404, "")),
		"a height that is none": at("chaininfo", says(200, `{"blocks":99999999,"bestblockhash":"`+strings.Repeat("00", 32)+`"}`)),
	} {
		f := newFake(t, 5)
		f.rest, f.first = true, first
		c := f.client("", nil)
		if tip, err := c.Tip(t.Context()); err != nil || tip != f.point(4) {
			t.Errorf("%s: the tip is %v, %v", what, tip, err)
		}
		if _, isRPC := (*c.session.Load()).(rpcNode); !isRPC {
			t.Errorf("%s is taken for REST", what)
		}
	}
}

func TestRESTThatIsWrongIsTold(t *testing.T) {
	f := newFake(t, 50)
	f.rest = true
	headers := func(blocks ...[]byte) func(http.ResponseWriter, *http.Request) bool {
		var text []byte
		for _, b := range blocks {
			text = append(text, b[:headerSize]...)
		}
		return at("headers", says(200, string(text)))
	}
	for _, q := range []struct {
		first func(http.ResponseWriter, *http.Request) bool
		says  string
	}{
		{headers(f.chain[6], f.chain[7]), "REST headers gave block " + show(f.point(6).Hash) + ", asked for " + show(f.point(5).Hash)},
		{headers(f.chain[5], f.chain[7]), "REST headers gave a header that does not follow on block " + show(f.point(5).Hash)},
		{at("headers", says(200, string(f.chain[5][:79]))), "REST headers gave 79 bytes for 20 headers"},
		{headers(f.chain[5:27]...), "REST headers gave 1760 bytes for 20 headers"},
		{at("headers", says(200, strings.Repeat("x", 200_000))), "REST headers gave more than 160000 bytes"},
		{at("headers", says(400, "Header count out of range")), "it said 400 Bad Request: Header count"},
		{at("blockhashbyheight", says(200, `{"blockhash":"00"}`)), "REST blockhashbyheight gave a hash that is not"},
		{at("blockhashbyheight", says(200, `[`)), "REST blockhashbyheight gave unexpected end of JSON"},
	} {
		c := f.client("", nil)
		f.set(func() { f.first = nil })
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.first = q.first })
		_, err := c.Hashes(t.Context(), 5, 20)
		code := "bad_answer"
		if strings.Contains(q.says, "400") {
			code = "not_a_node"
		}
		expect(t, err, code, false, q.says)
	}
	c := f.client("", nil)
	f.set(func() { f.first = at("block/", says(503, "Work queue depth exceeded")) })
	_, err := c.Raw(t.Context(), f.points(1, 1), 1)
	expect(t, err, "busy", true, "Work queue")
}

// A chain that changes between the hash at a height and the headers from there on is asked for again.
func TestRESTWhileTheChainChanges(t *testing.T) {
	f := newFake(t, 30)
	f.rest = true
	c := f.client("", nil)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	branches := 0
	f.first = func(_ http.ResponseWriter, r *http.Request) bool {
		f.set(func() {
			if strings.HasPrefix(r.URL.Path, "/rest/headers") && branches < 2 {
				branches++
				f.chain = fakeChain(f.chain[:10], 21, 100, uint32(branches))
			}
		})
		return false
	}
	hashes, err := c.Hashes(t.Context(), 20, 5)
	want := []model.Hash{}
	for _, p := range f.points(20, 5) {
		want = append(want, p.Hash)
	}
	if err != nil || branches != 2 || !slices.Equal(hashes, want) {
		t.Errorf("%v, expected %v: %v", hashes, want, err)
	}
	branches = -100
	_, err = c.Hashes(t.Context(), 20, 5)
	expect(t, err, "unreachable", true, "its chain at block 20 changes with every answer")

	// At the tip: a block comes between the answer that there is none and the one of how many there are.
	next := len(f.chain)
	f.first = func(_ http.ResponseWriter, r *http.Request) bool {
		f.set(func() {
			if strings.HasPrefix(r.URL.Path, "/rest/chaininfo") && len(f.chain) == next {
				f.chain = fakeChain(f.chain, 1, 100, 0)
			}
		})
		return false
	}
	if hashes, err := c.Hashes(t.Context(), model.HeightPk(next), 1); err != nil || len(hashes) != 1 || hashes[0] != f.point(next).Hash {
		t.Errorf("%v, %v", hashes, err)
	}
}

func TestUnspentIsExact(t *testing.T) {
	f := newFake(t, 6)
	best := show(f.point(5).Hash)
	result := func(total string) string {
		return fmt.Sprintf(`{"height":5,"bestblock":"%s","txouts":173805437,"bogosize":1,"total_amount":%s,"transactions":7}`, best, total)
	}
	for total, want := range map[string]uint64{
		"19849999.99999999": 1984999999999999, "0.00000001": 1, "0": 0, "21000000.00000000": 2100000000000000, "12.5": 1250000000,
		"20999999.97690000": 2099999997690000,
	} {
		f.unspent = result(total)
		got, err := f.client("", nil).Unspent(t.Context())
		if err != nil || got != (model.UnspentTotals{At: f.point(5), Outputs: 173805437, Value: want}) {
			t.Errorf("%s: %+v, %v", total, got, err)
		}
	}
	for _, bad := range []string{
		result("1e3"), result("-1.00000000"), result("0.123456789"), result("null"), result("99999999999999999999"), `{}`, `[]`, `null`, `7`,
		strings.Replace(result("1"), best, "00", 1), strings.Replace(result("1"), "173805437", "-1", 1),
	} {
		f.unspent = bad
		_, err := f.client("", nil).Unspent(t.Context())
		expect(t, err, "bad_answer", false, "gettxoutsetinfo gave")
	}
	c := f.client("", nil)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.first = only(says(200, "[]"))
	_, err := c.Unspent(t.Context())
	expect(t, err, "bad_answer", false, "gettxoutsetinfo gave no answer")
}

func TestUnspentThatIsNotOffered(t *testing.T) {
	f := newFake(t, 6)
	offered := func(c *Client, says string) {
		t.Helper()
		_, err := c.Unspent(t.Context())
		if kind, code := model.KindOf(err); kind != model.NotFound || code != "not_offered" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected %s", code, err, says)
		}
	}
	offered(f.client("", nil), "does not count what is unspent: Method not found (-32601)")
	f.errors["gettxoutsetinfo"] = rpcError{-32602, "wrong number of params"}
	offered(f.client("", nil), "does not count what is unspent: wrong number of params (-32602)")
	f.rest, f.auth = true, "user:"+password
	offered(f.client("", nil), "without a user and a password: its REST does not")
	f.errors["gettxoutsetinfo"] = rpcError{-28, "Loading"}
	_, err := f.client("user:"+password+"@", nil).Unspent(t.Context())
	expect(t, err, "starting", true, "is starting: Loading")
	f.errors["gettxoutsetinfo"] = rpcError{-32603, "Unable to read UTXO set"}
	_, err = f.client("user:"+password+"@", nil).Unspent(t.Context())
	expect(t, err, "node_error", false, "gettxoutsetinfo: Unable to read UTXO set")
}

// What is counted takes the node as long as it takes.
func TestUnspentIsWaitedFor(t *testing.T) {
	f := newFake(t, 2)
	f.unspent = fmt.Sprintf(`{"height":1,"bestblock":"%s","txouts":1,"total_amount":50.00000000}`, show(f.point(1).Hash))
	c := f.client("", nil)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.headerTimeout = 1
	if got, err := c.Unspent(t.Context()); err != nil || got.Value != 50_0000_0000 {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := c.Tip(t.Context())
	expect(t, err, "unreachable", true, "nothing has come from it")
}
