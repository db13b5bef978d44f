package rpc

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// at replaces the responses to paths that begin with one of path.
func at(path string, other func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/rest/"+path) && other(w, r)
	}
}

// A server that answers every path is not REST, and a node with an old REST is used over JSON-RPC.
func TestServersWithoutREST(t *testing.T) {
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
		f.set(func() { f.rest, f.first = true, first })
		c := f.client("", nil)
		if tip, err := c.Tip(t.Context()); err != nil || tip != f.point(4) {
			t.Errorf("%s: the tip is %v, %v", what, tip, err)
		}
		if _, isRPC := (*c.session.Load()).(rpcNode); !isRPC {
			t.Errorf("%s is used as REST", what)
		}
	}
}

func TestInvalidRESTResponsesAreReported(t *testing.T) {
	f := newFake(t, 50)
	f.set(func() { f.rest = true })
	headers := func(blocks ...[]byte) func(http.ResponseWriter, *http.Request) bool {
		var text []byte
		for _, b := range blocks {
			text = append(text, b[:block.HeaderSize]...)
		}
		return at("headers", says(200, string(text)))
	}
	for _, q := range []struct {
		first func(http.ResponseWriter, *http.Request) bool
		says  string
	}{
		{headers(f.chain[6], f.chain[7]), "REST headers returned block " + block.FormatHash(f.point(6).Hash) + ", expected " + block.FormatHash(f.point(5).Hash)},
		{headers(f.chain[5], f.chain[7]), "REST headers returned a header that does not extend block " + block.FormatHash(f.point(5).Hash)},
		{at("headers", says(200, string(f.chain[5][:79]))), "REST headers returned 79 bytes for 20 headers"},
		{headers(f.chain[5:27]...), "REST headers returned 1760 bytes for 20 headers"},
		{at("headers", says(200, strings.Repeat("x", 200_000))), "REST headers returned more than 160000 bytes"},
		{at("headers", says(400, "Header count out of range")), "it said 400 Bad Request: Header count"},
		{at("blockhashbyheight", says(200, `{"blockhash":"00"}`)), "REST blockhashbyheight returned a hash that is not"},
		{at("blockhashbyheight", says(200, `[`)), "REST blockhashbyheight returned unexpected end of JSON"},
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

// If the chain changes between the request for the hash at a height and the request for the next headers, both are sent
// again.
func TestRESTWhileTheChainChanges(t *testing.T) {
	f := newFake(t, 30)
	f.set(func() { f.rest = true })
	c := f.client("", nil)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	branches := 0
	meanwhile := func(_ http.ResponseWriter, r *http.Request) bool {
		f.set(func() {
			if strings.HasPrefix(r.URL.Path, "/rest/headers") && branches < 2 {
				branches++
				f.chain = fakeChain(f.chain[:10], 21, 100, uint32(branches))
			}
		})
		return false
	}
	f.set(func() { f.first = meanwhile })
	hashes, err := c.Hashes(t.Context(), 20, 5)
	want := []model.Hash{}
	for _, p := range f.points(20, 5) {
		want = append(want, p.Hash)
	}
	if err != nil || branches != 2 || !slices.Equal(hashes, want) {
		t.Errorf("%v, expected %v: %v", hashes, want, err)
	}
	f.set(func() { branches = -100 })
	_, err = c.Hashes(t.Context(), 20, 5)
	expect(t, err, "unreachable", true, "its chain at block 20 changed with every answer")

	// A block arrives at the tip between an empty response and the response with the count.
	next := len(f.chain)
	meanwhile = func(_ http.ResponseWriter, r *http.Request) bool {
		f.set(func() {
			if strings.HasPrefix(r.URL.Path, "/rest/chaininfo") && len(f.chain) == next {
				f.chain = fakeChain(f.chain, 1, 100, 0)
			}
		})
		return false
	}
	f.set(func() { f.first = meanwhile })
	if hashes, err := c.Hashes(t.Context(), model.HeightPk(next), 1); err != nil || len(hashes) != 1 || hashes[0] != f.point(next).Hash {
		t.Errorf("%v, %v", hashes, err)
	}
}
