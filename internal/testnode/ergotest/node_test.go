package ergotest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testblocks"
	"birthmark/model"
)

// ask returns the status and body of a response.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

func list(blocks ...Block) string {
	ids := []string{}
	for _, b := range blocks {
		ids = append(ids, b.ID.String())
	}
	text, _ := json.Marshal(ids)
	return string(text)
}

func TestAnswersMatchARealNode(t *testing.T) {
	c := ergogen.New(ergogen.Options{Seed: 1, TxsPerBlock: 3})
	blocks := Made(c, 10)
	fork := c.Fork(2)
	old := Made(c, 5)
	other := Made(fork, 6)
	n := New(Options{Genesis: []byte(`[{"boxId":"00"}]`)})
	n.Extend(blocks...)
	n.Extend(old...)
	n.Switch(10, other[:3]...)
	n.Announce(13, other[3:]...)
	url := n.Start(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string // empty: any body
	}{
		{"GET", "/blocks?offset=1&limit=3", "", 200, list(blocks[:3]...)},
		{"GET", "/blocks?offset=9&limit=100", "", 200, list(append(slices.Clone(blocks[8:]), other...)...)},
		{"GET", "/blocks?offset=17&limit=5", "", 200, "[]"},
		{"GET", "/blocks", "", 200, list(append(slices.Clone(blocks), other...)...)},
		{"GET", "/blocks?limit=16385", "", 400, ""},
		{"GET", "/blocks?offset=x", "", 400, ""},
		{"GET", "/blocks/at/12", "", 200, list(other[1], old[1])},
		{"GET", "/blocks/at/15", "", 200, list(other[4], old[4])},
		{"GET", "/blocks/at/99", "", 200, "[]"},
		{"GET", "/blocks/at/x", "", 400, ""},
		{"GET", "/blocks/" + blocks[3].ID.String(), "", 200, string(blocks[3].JSON)},
		{"GET", "/blocks/" + old[3].ID.String(), "", 200, string(old[3].JSON)},
		{"GET", "/blocks/" + other[4].ID.String(), "", 404, `{"detail":null,"error":404,"reason":"not-found"}`},
		{"GET", "/blocks/" + other[4].ID.String() + "/header", "", 200, string(member(other[4].JSON, "header"))},
		{"GET", "/blocks/" + other[4].ID.String() + "/transactions", "", 404, ""},
		{"GET", "/blocks/" + other[2].ID.String() + "/transactions", "", 200, string(member(other[2].JSON, "blockTransactions"))},
		{"GET", "/blocks/lastHeaders/1", "", 200, "[" + string(member(other[5].JSON, "header")) + "]"},
		{"GET", "/blocks/lastHeaders/99999", "", 400, ""},
		{"GET", "/blocks/abc", "", 400, ""},
		{"POST", "/blocks/headerIds", list(blocks[5], other[5], blocks[2]), 200, "[" + string(blocks[5].JSON) + "," + string(blocks[2].JSON) + "]"},
		{"POST", "/blocks/headerIds", `["` + strings.Repeat("ab", 32) + `"]`, 200, "[]"},
		{"POST", "/blocks/headerIds", `{}`, 400, ""},
		{"POST", "/blocks/headerIds", `["x"]`, 400, ""},
		{"POST", "/blocks", "", 405, ""},
		{"GET", "/utxo/genesis", "", 200, `[{"boxId":"00"}]`},
		{"GET", "/wallet/status", "", 404, ""},
	} {
		status, text := ask(t, c.method, url+c.path, c.body)
		if status != c.status || c.want != "" && text != c.want {
			t.Errorf("%s %s: %d %.200s, expected %d %.200s", c.method, c.path, status, text, c.status, c.want)
		}
	}
	if n.Requests("/blocks/at/N") != 3 || n.Requests("/blocks/ID/header") != 1 || n.AtOnce() != 1 {
		t.Errorf("%d and %d requests, %d at once", n.Requests("/blocks/at/N"), n.Requests("/blocks/ID/header"), n.AtOnce())
	}
}

func TestInfoOfHeadersAndBlocks(t *testing.T) {
	type info struct {
		Network                           *string
		FullHeight, HeadersHeight         *model.HeightPk
		BestFullHeaderID, BestHeaderID    *string
		GenesisBlockID, AppVersion        *string
		PreviousFullHeaderID, UnusedField *string
	}
	blocks := Made(ergogen.New(ergogen.Options{Seed: 1, TxsPerBlock: 3}), 6)
	n := New(Options{Network: "testnet"})
	url := n.Start(t)
	says := func() (i info) {
		t.Helper()
		_, text := ask(t, "GET", url+"/info", "")
		if err := json.Unmarshal([]byte(text), &i); err != nil || i.Network == nil || *i.Network != "testnet" || i.AppVersion == nil {
			t.Fatalf("/info is %s, %v", text, err)
		}
		return i
	}
	if i := says(); i.FullHeight != nil || i.HeadersHeight != nil || i.BestHeaderID != nil || !n.Tip().IsOrigin() {
		t.Errorf("without blocks: %+v", i)
	}
	n.Announce(0, blocks[:4]...)
	if i := says(); i.FullHeight != nil || *i.HeadersHeight != 4 || *i.GenesisBlockID != blocks[0].ID.String() {
		t.Errorf("with headers alone: %+v", i)
	}
	n.Deliver()
	n.Announce(4, blocks[4:]...)
	if i := says(); *i.FullHeight != 4 || *i.HeadersHeight != 6 || *i.BestFullHeaderID != blocks[3].ID.String() || *i.BestHeaderID != blocks[5].ID.String() ||
		*i.PreviousFullHeaderID != blocks[2].ID.String() || n.Tip() != blocks[3].Point() {
		t.Errorf("with headers ahead: %+v", i)
	}
	n.Prune(3)
	for i, want := range []int{404, 404, 200, 200, 404, 404} {
		if status, _ := ask(t, "GET", url+"/blocks/"+blocks[i].ID.String(), ""); status != want {
			t.Errorf("pruned, block %d has status %d, expected %d", i+1, status, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a block with another parent was accepted")
		}
	}()
	n.Extend(blocks[2])
}

func TestKeysFaultsAndOldNodes(t *testing.T) {
	n := New(Options{APIKey: "secret", Old: true})
	n.Extend(Made(ergogen.New(ergogen.Options{Seed: 1, TxsPerBlock: 3}), 3)...)
	url := n.Start(t)
	if status, text := ask(t, "GET", url+"/info", ""); status != 403 || !strings.Contains(text, "invalid.api-key") {
		t.Errorf("without its key: %d %s", status, text)
	}
	n.options.APIKey = ""
	if status, _ := ask(t, "POST", url+"/blocks/headerIds", "[]"); status != 405 {
		t.Errorf("an old node returns blocks in groups: %d", status)
	}
	if _, text := ask(t, "GET", url+"/info", ""); strings.Contains(text, "network") {
		t.Errorf("an old node reports its network: %s", text)
	}
	n.Break(func(r *http.Request, a *Answer) {
		switch r.URL.Path {
		case "/info":
			a.Status, a.Body = 503, []byte("busy")
		case "/blocks":
			a.Cut = true
		default:
			a.Delay = time.Hour
		}
	})
	if status, text := ask(t, "GET", url+"/info", ""); status != 503 || text != "busy" {
		t.Errorf("busy: %d %s", status, text)
	}
	if status, text := ask(t, "GET", url+"/blocks", ""); status != 0 || !strings.Contains(text, "EOF") {
		t.Errorf("truncated: %d %s", status, text)
	}
	go func() { _, _ = http.Get(url + "/blocks/at/1") }() // ends with the server
	for n.Requests("/blocks/at/N") == 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestFilesRoundTrip(t *testing.T) {
	blocks := Made(ergogen.New(ergogen.Options{Seed: 1, TxsPerBlock: 3}), 5)
	for _, name := range []string{"blocks.jsonl", "blocks.jsonl.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := WriteFile(path, blocks); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); err != nil || !reflect.DeepEqual(got, blocks) {
			t.Errorf("%s: %d blocks, %v", name, len(got), err)
		}
	}
	for _, real := range [][]string{{"ergo-uexplorer", "blocks_first.gz"}, {"arkadianet-ergo", "mainnet", "scala_headerids", "blocks_700000_700004.json"}} {
		got, err := ReadFile(testblocks.Path(t, append([]string{"ergo"}, real...)...))
		if err != nil || len(got) < 5 {
			t.Fatalf("%s: %d blocks, %v", real, len(got), err)
		}
		for i := 1; i < len(got); i++ {
			if got[i].Parent != got[i-1].ID {
				t.Fatalf("%s: block %d is not the child of the previous block", real, got[i].Height)
			}
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"header":{"id":"00"}}`, fmt.Sprintf(`{"header":{"id":"%064d","parentId":"%065d","height":1}}`, 1, 2)} {
		if b, err := ParseBlock([]byte(bad)); err == nil {
			t.Errorf("%q is parsed as block %+v", bad, b)
		}
	}
}

func TestRehead(t *testing.T) {
	blocks, err := ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Rehead(blocks[8], model.Hash{7})
	if err != nil {
		t.Fatal(err)
	}
	says, err := ParseBlock(got.JSON)
	if err != nil || got.ID == blocks[8].ID || !reflect.DeepEqual(says, got) || got.Parent != (model.Hash{7}) || got.Height != 9 {
		t.Errorf("block %d %s with the parent %s, in its JSON %+v, %v", got.Height, got.ID, got.Parent, says.Point(), err)
	}
	if _, err := Rehead(Made(ergogen.New(ergogen.Options{}), 1)[0], model.Hash{}); err == nil {
		t.Error("a block of version 4 was changed")
	}
}
