package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

const (
	// headersAtOnce is Core's maximum number of headers in a response.
	headersAtOnce = 2000
	// blocksAtOnce is the number of concurrent block requests of a call.
	blocksAtOnce = 4
)

// errNoREST: the node's REST interface is disabled.
var errNoREST = errors.New("no REST")

// restNode uses Core's REST, without credentials.
type restNode struct{ *Client }

// identify returns the state of the node's chain and its block 0; errNoREST if the node has no REST, or is older than
// Core 0.19, which lacks hashes by height.
func (n restNode) identify(ctx context.Context) (info chainInfo, genesis model.Hash, err error) {
	status, text, err := n.get(ctx, smallAnswer, true, "chaininfo.json")
	if err != nil {
		return info, genesis, err
	}
	// Many web servers respond to every path.
	if status != http.StatusOK || json.Unmarshal(text, &info) != nil || info.check() != nil {
		return info, genesis, errNoREST
	}
	genesis, found, err := n.hashAt(ctx, 0)
	if err == nil && !found {
		err = errNoREST
	}
	return info, genesis, err
}

func (n restNode) info(ctx context.Context) (info chainInfo, err error) {
	status, text, err := n.get(ctx, smallAnswer, false, "chaininfo.json")
	if err != nil {
		return info, err
	}
	if status == http.StatusNotFound {
		return info, errNoREST
	}
	return n.parseInfo(text)
}

func (n restNode) best(ctx context.Context) (model.Hash, error) {
	info, err := n.info(ctx)
	return info.tip.Hash, err
}

// hashAt returns the hash of the best chain's block at a height, if there is one.
func (n restNode) hashAt(ctx context.Context, h model.HeightPk) (hash model.Hash, found bool, err error) {
	const name = "blockhashbyheight"
	status, text, err := n.get(ctx, smallAnswer, false, name, fmt.Sprintf("%d.json", h))
	if err != nil || status == http.StatusNotFound {
		return hash, false, err
	}
	var answer struct {
		Hash string `json:"blockhash"`
	}
	if err = json.Unmarshal(text, &answer); err == nil {
		hash, err = parseHash(answer.Hash)
	}
	if err != nil {
		return hash, false, n.badResult("REST "+name, n.http.Excerpt(err.Error(), redactedLength))
	}
	return hash, true, nil
}

// hashes requests the hash at a height and then the headers from there on, so that all of a response belong to one
// chain.
func (n restNode) hashes(ctx context.Context, from model.HeightPk, count int) ([]model.Hash, error) {
	const tries = 3 // the chain may change between two responses
	for range tries {
		hash, found, err := n.hashAt(ctx, from)
		if err != nil {
			return nil, err
		}
		if !found {
			info, err := n.info(ctx)
			if err != nil || info.tip.Height < from {
				return nil, err
			}
			continue
		}
		if count == 1 {
			return []model.Hash{hash}, nil
		}
		hashes, err := n.headers(ctx, hash, count)
		if err != nil || len(hashes) > 0 {
			return hashes, err
		}
	}
	return nil, n.http.Unreachable("its chain at block %d changed with every answer", from)
}

// headers returns the hashes of a block of the best chain and the following ones; none if it is on another chain.
func (n restNode) headers(ctx context.Context, from model.Hash, count int) ([]model.Hash, error) {
	var hashes []model.Hash
	for len(hashes) < count {
		// The last one is requested again: this proves that the next ones are its children.
		overlap := min(len(hashes), 1)
		most := min(count-len(hashes)+overlap, headersAtOnce)
		status, text, err := n.get(ctx, headersAtOnce*n.largestHeader(), false, "headers", fmt.Sprint(most), block.FormatHash(from)+".bin")
		if err != nil {
			return nil, err
		}
		if status == http.StatusNotFound || len(text) == 0 {
			return hashes, nil
		}
		headers, err := n.format().SplitHeaders(text)
		if err != nil || len(headers) > most {
			return nil, n.badResult("REST headers", fmt.Sprintf("%d bytes for %d headers", len(text), most))
		}
		if got := n.format().HashOf(headers[0]); got != from {
			return nil, n.badResult("REST headers", fmt.Sprintf("block %s, expected %s", block.FormatHash(got), block.FormatHash(from)))
		}
		for i, h := range headers[overlap:] {
			if i+overlap > 0 && h.Parent() != from {
				return nil, n.badResult("REST headers", fmt.Sprintf("a header that does not extend block %s", block.FormatHash(from)))
			}
			from = n.format().HashOf(h)
			hashes = append(hashes, from)
		}
		if len(headers) < most {
			return hashes, nil
		}
	}
	return hashes, nil
}

// largestHeader bounds the size of a header in a response: merged mining adds a transaction.
func (n restNode) largestHeader() int {
	if f := n.format(); f.Header == nil && f.Tail == nil {
		return block.HeaderSize
	}
	return 10 << 10
}

// raw requests several blocks concurrently and ends with the one that reaches the limit.
func (n restNode) raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error) {
	jobs := func(_ context.Context, yield func(model.Point) bool) {
		for _, p := range points {
			if !yield(p) {
				return
			}
		}
	}
	worker := func() (func(context.Context, model.Point) ([]byte, error), func()) {
		return func(ctx context.Context, p model.Point) ([]byte, error) { return n.block(ctx, p, limit) }, func() {}
	}
	one := func(model.Point) int64 { return 1 }
	limits := blocksource.Limits{Workers: min(blocksAtOnce, len(points)), Memory: blocksAtOnce}
	var blocks [][]byte
	left := limit
	for raw, err := range blocksource.Ordered(ctx, jobs, one, limits, worker) {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && len(blocks) > 0:
			return blocks, nil // the next call begins at the failed one
		case err != nil:
			return nil, err
		}
		blocks = append(blocks, raw)
		if left -= int64(len(raw)); left <= 0 {
			break
		}
	}
	return blocks, nil
}

func (n restNode) block(ctx context.Context, p model.Point, limit int64) (raw []byte, err error) {
	body := &blockBody{c: n.Client, point: p, limit: limit}
	defer func() {
		if err != nil {
			body.Free()
		}
	}()
	status, err := n.getTo(ctx, body, n.format().MaxSize, false, "block", block.FormatHash(p.Hash)+".bin")
	if err == errTooLarge {
		return nil, n.badBlock(p, "more than the %d bytes a block can have", n.format().MaxSize)
	}
	if err != nil {
		return nil, err
	}
	if status == http.StatusNotFound {
		return nil, &missing{strings.TrimPrefix(n.http.Excerpt(string(body.Bytes), redactedLength), block.FormatHash(p.Hash)+" ")}
	}
	if err := n.checkBlock(p, body.Bytes); err != nil {
		return nil, err
	}
	return n.held.Bytes(&body.Buffer), nil
}

// get requests a path below /rest/ and returns a response of status 200 or 404, or of any status if it is unknown
// whether the server has REST.
func (n restNode) get(ctx context.Context, most int, probing bool, path ...string) (status int, text []byte, err error) {
	var body blockBody
	status, err = n.getTo(ctx, &body, most, probing, path...)
	return status, body.Bytes, err
}

// getTo is get with the buffer of the response.
func (n restNode) getTo(ctx context.Context, body *blockBody, most int, probing bool, path ...string) (status int, err error) {
	err = n.do(ctx, nodehttp.Request{Path: append([]string{"rest"}, path...)}, func(a *answer) error {
		status = a.response.StatusCode
		a.allow(most + 1)
		if err := body.readAll(a, min(a.response.ContentLength, int64(most)+1)); err != nil {
			return err
		}
		text := body.Bytes
		if status == http.StatusUnauthorized {
			return errNoREST // REST needs no credentials; btcd requires them for every path
		}
		ok := status == http.StatusOK || status == http.StatusNotFound
		unavailable := status == http.StatusServiceUnavailable || status >= http.StatusBadGateway
		if ok || probing && !unavailable {
			return nil
		}
		return n.refusal(a, text)
	})
	switch {
	case err == errTooLarge && probing:
		err = errNoREST
	case err == errTooLarge && path[0] != "block":
		err = n.badResult("REST "+path[0], fmt.Sprintf("more than %d bytes", most))
	}
	return status, err
}
