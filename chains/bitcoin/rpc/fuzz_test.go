package rpc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// canned is a response with the given text.
func canned(c *Client, status int, text io.Reader) *answer {
	return &answer{client: c, left: smallAnswer, response: &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Body: io.NopCloser(text), TransferEncoding: []string{"chunked"},
	}}
}

// getblocks returns calls for points and the collection for their results.
func getblocks(c *Client, points []model.Point, limit int64) ([]call, *collection) {
	return make([]call, len(points)), newCollection(c, points, limit)
}

func batchOf(blocks [][]byte, order ...int) []byte {
	var replies []map[string]any
	for _, i := range order {
		replies = append(replies, map[string]any{"jsonrpc": "2.0", "id": i, "result": hex.EncodeToString(blocks[i])})
	}
	text, err := json.Marshal(replies)
	if err != nil {
		panic(err)
	}
	return text
}

// FuzzBlocks: no response makes the reader panic or return a block of another hash, and an error is one line.
func FuzzBlocks(f *testing.F) {
	chain := fakeChain(nil, 4, 90, 0)
	var points []model.Point
	for h, b := range chain {
		points = append(points, model.Point{Height: model.HeightPk(h), Hash: block.Header(b).Hash()})
	}
	c, err := New(Options{URL: "http://user:" + password + "@node", Network: params.Networks[4]})
	if err != nil {
		f.Fatal(err)
	}
	whole := batchOf(chain, 0, 1, 2, 3)
	for _, seed := range [][]byte{
		whole, batchOf(chain, 3, 1, 0, 2), batchOf(chain, 0, 0, 1), whole[:len(whole)/2], whole[:len(whole)-1], append(whole, whole...),
		bytes.Replace(whole, []byte(`"id":0`), []byte(`"id":3`), 1), bytes.ReplaceAll(whole, []byte(`"id":`), []byte(`"id":-`)),
		[]byte(`[{"id":0,"result":null,"error":{"code":-5,"message":"Block not found"}}]`),
		[]byte(`{"id":null,"result":null,"error":{"code":-32700,"message":"Parse error"}}`),
		[]byte(" \n[]"), []byte("[null]"), []byte("<html>"), []byte(`[{"id":0.0,"result":"00"}]`), []byte(strings.Repeat("[", 100)), nil,
	} {
		f.Add(200, int64(200), seed)
	}
	f.Fuzz(func(t *testing.T, status int, limit int64, text []byte) {
		calls, got := getblocks(c, points, limit)
		err := blockReplies(canned(c, status, bytes.NewReader(text)), calls, got)
		blocks, err := got.result(t.Context(), err)
		if (err == nil) != (len(blocks) > 0) || len(blocks) > len(points) {
			t.Fatalf("%d blocks, %v", len(blocks), err)
		}
		size := int64(0)
		for i, b := range blocks {
			if i > 1 && size >= max(limit, 1)+int64(len(blocks[0])) {
				t.Fatalf("%d blocks for a limit of %d", len(blocks), limit)
			}
			size += int64(len(b))
			if len(b) < block.HeaderSize || block.Header(b).Hash() != points[i].Hash {
				t.Fatalf("block %d differs", i)
			}
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), password)) {
			t.Fatalf("%q", err)
		}
	})
}

// An endless response is neither read forever nor stored.
func TestEndlessResponsesAreBounded(t *testing.T) {
	f := newFake(t, 3)
	c := f.client("", nil)
	for _, begin := range []string{"[", `{"id":`, `[{"id":0,"result":"`, `[{"id":0,"result":[`, " "} {
		endless := &counted{from: io.MultiReader(strings.NewReader(begin), zeros{})}
		calls, got := getblocks(c, f.points(0, 3), 1)
		err := blockReplies(canned(c, 200, endless), calls, got)
		if err == nil || endless.n > 2*c.maxReply() {
			t.Errorf("%q: %d bytes were read: %v", begin, endless.n, err)
		}
	}
}

// zeros is an endless stream of digits.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

type counted struct {
	from io.Reader
	n    int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += n
	return n, err
}

// BenchmarkBlocks reads a batch of blocks of a current size.
func BenchmarkBlocks(b *testing.B) {
	chain := fakeChain(nil, 8, 1_600_000, 0)
	var points []model.Point
	for h, raw := range chain {
		points = append(points, model.Point{Height: model.HeightPk(h), Hash: block.Header(raw).Hash()})
	}
	c, err := New(Options{URL: "http://node", Network: params.Networks[4]})
	if err != nil {
		b.Fatal(err)
	}
	text := batchOf(chain, 0, 1, 2, 3, 4, 5, 6, 7)
	b.SetBytes(8 * 1_600_000)
	b.ReportAllocs()
	for b.Loop() {
		calls, got := getblocks(c, points, 1<<40)
		err := blockReplies(canned(c, 200, bytes.NewReader(text)), calls, got)
		if blocks, err := got.result(b.Context(), err); err != nil || len(blocks) != len(chain) {
			b.Fatal(err)
		}
	}
}
