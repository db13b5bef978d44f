package rest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
)

// chainOf returns blocks that extend another one: their headers have the fields that a node reads, and invented ids.
func chainOf(t testing.TB, branch string, on model.Point, n int) (blocks []ergotest.Block) {
	t.Helper()
	for range n {
		h := on.Height + 1
		id := model.Hash(sha256.Sum256(fmt.Append(nil, branch, h)))
		raw := fmt.Appendf(nil, `{"blockTransactions":{"transactions":[]},"header":{"parentId":"%s","height":%d,"id":"%s"},"size":%d}`, on.Hash, h, id, 100)
		b, err := ergotest.ParseBlock(raw)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
		on = b.Point()
	}
	return blocks
}

func points(blocks []ergotest.Block) (points []model.Point, ids []model.Hash) {
	for i := range blocks {
		points = append(points, blocks[i].Point())
		ids = append(ids, blocks[i].ID)
	}
	return points, ids
}

func client(t testing.TB, url string, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{URL: url, Network: "mainnet", Port: "9053", Poll: time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// taken returns the blocks of a client, up to a maximum number.
func taken(ctx context.Context, c *Client, ids []model.Hash, most int) (texts []string, err error) {
	err = c.Blocks(ctx, ids, func(raw []byte) (bool, error) {
		texts = append(texts, string(raw))
		return len(texts) < most, nil
	})
	return texts, err
}

func TestAChainIsHandedOut(t *testing.T) {
	blocks := chainOf(t, "a", model.Point{}, 100)
	all, ids := points(blocks)
	for name, o := range map[string]ergotest.Options{"a node": {}, "one that packs": {Gzip: true}, "an old one": {Old: true}} {
		n := ergotest.New(o)
		n.Extend(blocks...)
		c := client(t, n.Start(t))
		if tip, err := c.Tip(t.Context()); err != nil || tip != all[99] {
			t.Errorf("%s: the tip is %v, %v", name, tip, err)
		}
		for _, r := range []struct{ from, n, want int }{{1, 100, 100}, {1, 500, 100}, {40, 3, 3}, {100, 1, 1}, {101, 5, 0}, {7, 0, 0}} {
			got, err := c.Hashes(t.Context(), model.HeightPk(r.from), r.n)
			if err != nil || !slices.Equal(got, ids[r.from-1:][:r.want]) {
				t.Errorf("%s: %d ids from %d: %d and %v", name, r.n, r.from, len(got), err)
			}
		}
		unknown := model.Hash{1}
		asked := []model.Hash{ids[3], unknown, ids[0], ids[99]}
		got, err := taken(t.Context(), c, asked, 10)
		if want := []string{string(blocks[3].JSON), string(blocks[0].JSON), string(blocks[99].JSON)}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: blocks %s, %v", name, got, err)
		}
		if got, err := taken(t.Context(), c, ids, 2); err != nil || len(got) != 2 {
			t.Errorf("%s: two blocks were requested, got %d, %v", name, len(got), err)
		}
		if got, err := taken(t.Context(), c, nil, 2); err != nil || len(got) != 0 {
			t.Errorf("%s: no block was requested, got %d, %v", name, len(got), err)
		}
		wrong := errors.New("wrong")
		if err := c.Blocks(t.Context(), ids, func([]byte) (bool, error) { return true, wrong }); err != wrong {
			t.Errorf("%s: the error of a block is %v", name, err)
		}
		if grouped := n.Requests("/blocks/ID") == 0; grouped == o.Old {
			t.Errorf("%s: %d single requests for blocks", name, n.Requests("/blocks/ID"))
		}
	}
}

func TestIDsAreAskedForInTheMostANodeGives(t *testing.T) {
	blocks := chainOf(t, "a", model.Point{}, maxIDs+10)
	_, ids := points(blocks)
	n := ergotest.New(ergotest.Options{})
	n.Extend(blocks...)
	got, err := client(t, n.Start(t)).Hashes(t.Context(), 1, maxIDs+100)
	if err != nil || !slices.Equal(got, ids) || n.Requests("/blocks") != 2 {
		t.Errorf("%d ids in %d requests, %v", len(got), n.Requests("/blocks"), err)
	}
}

func TestGenesisBoxesAreAsked(t *testing.T) {
	const boxes = `[{"boxId":"00"},{"boxId":"01"}]`
	n := ergotest.New(ergotest.Options{Genesis: []byte(boxes)})
	c := client(t, n.Start(t))
	if got, err := c.GenesisBoxes(t.Context()); err != nil || string(got) != boxes {
		t.Errorf("%s, %v", got, err)
	}
	n.Break(func(_ *http.Request, a *ergotest.Answer) { a.Body = []byte(`{"a":1}`) })
	if got, err := c.GenesisBoxes(t.Context()); err == nil {
		t.Errorf("boxes are %s", got)
	}
}

func TestChangedReturnsWhenTheTipMoves(t *testing.T) {
	blocks := chainOf(t, "a", model.Point{}, 3)
	n := ergotest.New(ergotest.Options{})
	n.Extend(blocks[:2]...)
	c := client(t, n.Start(t))
	tip := n.Tip()
	done := make(chan error)
	go func() { done <- c.Changed(t.Context(), tip) }()
	for n.Requests("/info") < 3 {
		time.Sleep(time.Millisecond)
	}
	n.Announce(2, blocks[2])
	asked := n.Requests("/info")
	for n.Requests("/info") < asked+3 {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-done:
		t.Fatalf("a header changed the tip: %v", err)
	default:
	}
	n.Deliver()
	if err := <-done; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := c.Changed(ctx, n.Tip()); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestABlockThatIsNotThereIsExplained(t *testing.T) {
	blocks := chainOf(t, "a", model.Point{}, 50)
	other := chainOf(t, "b", blocks[29].Point(), 21)
	for _, c := range []struct {
		name      string
		change    func(*ergotest.Node)
		asked     model.Point
		code      string
		says      string
		temporary bool
	}{
		{"the chain moved", func(n *ergotest.Node) { n.Switch(30, other...) }, blocks[40].Point(), "", blocksource.ErrMoved.Error(), false},
		{"the chain is shorter", func(n *ergotest.Node) { n.Switch(30) }, blocks[40].Point(), "", blocksource.ErrMoved.Error(), false},
		{"its header came before", func(n *ergotest.Node) { n.Announce(50, chainOf(t, "a", blocks[49].Point(), 2)...) }, chainOf(t, "a", blocks[49].Point(), 2)[1].Point(), "block_missing", "has the header of block 52", true},
		{"its chain is better and not there", func(n *ergotest.Node) { n.Announce(30, other...) }, other[5].Point(), "block_missing", "but not the block yet", true},
		{"it was deleted", func(n *ergotest.Node) { n.Prune(45) }, blocks[7].Point(), "pruned", "does not have the blocks below 45", false},
		{"it has come meanwhile", func(*ergotest.Node) {}, blocks[7].Point(), "block_missing", "block 8", true},
	} {
		n := ergotest.New(ergotest.Options{})
		n.Extend(blocks...)
		c.change(n)
		err := client(t, n.Start(t)).Missing(t.Context(), c.asked)
		_, code := model.KindOf(err)
		if c.code == "" {
			if !errors.Is(err, blocksource.ErrMoved) {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if code != c.code || !strings.Contains(err.Error(), c.says) || blocksource.IsTemporary(err) != c.temporary {
			t.Errorf("%s: %v (%s)", c.name, err, code)
		}
	}
}

func TestANodeThatComesBackWithAnotherChainIsRefused(t *testing.T) {
	n := ergotest.New(ergotest.Options{})
	n.Extend(chainOf(t, "a", model.Point{}, 3)...)
	c := client(t, n.Start(t))
	if _, err := c.Tip(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.Switch(0, chainOf(t, "b", model.Point{}, 5)...)
	_, err := c.Tip(t.Context())
	if kind, code := model.KindOf(err); kind != model.Refused || code != "wrong_chain" || blocksource.IsTemporary(err) {
		t.Errorf("%v (%s)", err, code)
	}
	n.Switch(0, chainOf(t, "a", model.Point{}, 4)...)
	if tip, err := c.Tip(t.Context()); err != nil || tip.Height != 4 {
		t.Errorf("after the return to its chain: %v, %v", tip, err)
	}
}

func TestFailuresAreNamed(t *testing.T) {
	blocks := chainOf(t, "a", model.Point{}, 5)
	body := func(text string) ergotest.Fault {
		return func(_ *http.Request, a *ergotest.Answer) { a.Body = []byte(text) }
	}
	status := func(code int, text string) ergotest.Fault {
		return func(_ *http.Request, a *ergotest.Answer) { a.Status, a.Body = code, []byte(text) }
	}
	on := func(path string, f ergotest.Fault) ergotest.Fault {
		return func(r *http.Request, a *ergotest.Answer) {
			if r.URL.Path == path {
				f(r, a)
			}
		}
	}
	redirect := func(_ *http.Request, a *ergotest.Answer) {
		a.Status, a.Header, a.Body = http.StatusFound, http.Header{"Location": {"https://user:secret@elsewhere:99/info?key=secret"}}, nil
	}
	for _, c := range []struct {
		name      string
		fault     ergotest.Fault
		code      string
		says      string
		temporary bool
	}{
		{"a web page", body("<!doctype html>"), "not_a_node", "web page", false},
		{"other JSON", body(`{"result":1}`), "not_a_node", "neither appVersion nor a height", false},
		{"no JSON", body(`welcome`), "not_a_node", "welcome", false},
		{"another service", status(404, "no such page"), "not_a_node", "404", false},
		{"starting", status(503, ""), "busy", "503", true},
		{"an internal error", status(500, `{"error":500,"reason":"internal.error"}`), "busy", "internal.error", true},
		{"a proxy without its node", status(502, "<html>"), "busy", "502", true},
		{"a redirection", redirect, "redirected", "https://elsewhere:99 ", false},
		{"a cut answer", func(_ *http.Request, a *ergotest.Answer) { a.Cut = true }, "unreachable", "closed the connection", true},
		{"another network", body(`{"appVersion":"6","network":"testnet","fullHeight":5}`), "wrong_network", "ergo testnet: expected mainnet", false},
		{"another first block", body(`{"appVersion":"6","genesisBlockId":"` + strings.Repeat("ab", 32) + `"}`), "wrong_network", "abab", false},
		{"nothing synced", body(`{"appVersion":"6","fullHeight":null,"headersHeight":1234,"maxPeerHeight":700000}`), "not_synced", "1,234 of 700,000 headers", true},
		{"a bad id", body(`{"appVersion":"6","fullHeight":5,"bestFullHeaderId":"xyz"}`), "not_a_node", "hex digits", false},
		{"a height that is none", body(`{"appVersion":"6","fullHeight":-5,"bestFullHeaderId":"xyz"}`), "not_a_node", "negative", false},
		{"a height of another world", body(`{"appVersion":"6","fullHeight":999999999999,"bestFullHeaderId":"xyz"}`), "not_a_node", "999999999999", false},
		{"no ids", on("/blocks", body(`{"a":1}`)), "bad_answer", "/blocks returned", false},
		{"ids that are none", on("/blocks", body(`["a"]`)), "bad_answer", "64 hex digits", false},
		{"too many ids", on("/blocks", body(`["`+strings.Repeat(strings.Repeat("ab", 32)+`","`, 9)+strings.Repeat("ab", 32)+`"]`)), "bad_answer", "10 ids", false},
		{"blocks that are none", on("/blocks/headerIds", body(`"no"`)), "bad_answer", "/blocks/headerIds returned", false},
		{"broken blocks", on("/blocks/headerIds", body(`[{"a":1}{}]`)), "bad_answer", "invalid JSON", false},
		{"half an answer", on("/blocks/headerIds", body(`[{"a":1},{"b"`)), "bad_answer", "truncated JSON", false},
		{"more than asked for", on("/blocks/headerIds", body(`[{},{},{},{},{},{}]`)), "bad_answer", "more than the 5 requested blocks", false},
		{"white space", on("/blocks/headerIds", body(strings.Repeat(" \n", maxBlock))),
			"bad_answer", "more than the 67108864 bytes", false},
		{"a cut block", on("/blocks/headerIds", func(_ *http.Request, a *ergotest.Answer) { a.Cut = true }), "unreachable", "closed the connection", true},
		{"too busy for blocks", on("/blocks/headerIds", status(503, "The server was not able to produce a timely response")), "busy", "timely", true},
	} {
		n := ergotest.New(ergotest.Options{})
		n.Extend(blocks...)
		n.Break(c.fault)
		cl := client(t, n.Start(t), func(o *Options) { o.First = blocks[0].ID })
		_, ids := points(blocks)
		_, err := cl.Tip(t.Context())
		if err == nil {
			_, err = cl.Hashes(t.Context(), 1, 5)
		}
		if err == nil {
			_, err = taken(t.Context(), cl, ids, 100)
		}
		kind, code := model.KindOf(err)
		if err == nil || kind != model.BadSource || code != c.code || !strings.Contains(err.Error(), c.says) || blocksource.IsTemporary(err) != c.temporary {
			t.Errorf("%s: %v (%s), expected %s: %s", c.name, err, code, c.code, c.says)
		} else if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), cl.Host()) {
			t.Errorf("%s: error %q", c.name, err)
		}
	}
}

func TestTheAPIKeyIsSentAndAskedAgainWhenItIsRefused(t *testing.T) {
	blocks := chainOf(t, "a", model.Point{}, 2)
	n := ergotest.New(ergotest.Options{APIKey: "open sesame"})
	n.Extend(blocks...)
	url := n.Start(t)
	var asked atomic.Int32
	answers := func(keys ...string) func(*Options) {
		asked.Store(0)
		return func(o *Options) {
			o.Password = func() (string, error) { return keys[min(int(asked.Add(1)), len(keys))-1], nil }
		}
	}
	for _, c := range []struct {
		name   string
		url    string
		keys   []string
		asked  int32
		refuse string
	}{
		{"none", url, nil, 0, "asks for an API key"},
		{"in the URL", strings.Replace(url, "//", "//:open%20sesame@", 1), nil, 0, ""},
		{"in the URL, with another as password", strings.Replace(url, "//", "//:open%20sesame@", 1), []string{"no"}, 0, ""},
		{"as password, with the file's end of line", url, []string{"open sesame\n"}, 1, ""},
		{"changed since", url, []string{"old", "open sesame"}, 2, ""},
		{"wrong", url, []string{"old", "old"}, 2, "refuses the API key"},
		{"always another", url, []string{"old", "older", "oldest"}, 2, "refuses the API key"},
	} {
		change := func(*Options) {}
		asked.Store(0)
		if c.keys != nil {
			change = answers(c.keys...)
		}
		_, err := client(t, c.url, change).Tip(t.Context())
		_, code := model.KindOf(err)
		if (err == nil) != (c.refuse == "") || err != nil && (code != "unauthorized" || !strings.Contains(err.Error(), c.refuse)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := asked.Load(); got != c.asked {
			t.Errorf("%s: the password was read %d times, expected %d", c.name, got, c.asked)
		}
	}
	away := errors.New("no such file")
	_, err := client(t, url, func(o *Options) { o.Password = func() (string, error) { return "", away } }).Tip(t.Context())
	if !errors.Is(err, away) || blocksource.IsTemporary(err) {
		t.Errorf("an unreadable password: %v", err)
	}
	n.Break(func(r *http.Request, a *ergotest.Answer) {
		a.Status, a.Body = http.StatusTeapot, []byte("you sent "+r.Header.Get("api_key"))
	})
	_, err = client(t, url, answers("open sesame")).Tip(t.Context())
	if err == nil || strings.Contains(err.Error(), "sesame") || !strings.Contains(err.Error(), "you sent …") {
		t.Errorf("a node whose message contains the key: %v", err)
	}
}
