package ergonode

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/api/ratelimit"
	"birthmark/chains/ergo"
	"birthmark/model"
)

// ask sends the request to the node.
func (p *protocol) ask(r *request) (ergo.NodeAnswer, error) {
	path := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, p.path), "/"), "/")
	return p.Ask(r.Context(), path, r.URL.Query(), r.Content())
}

// fromNode answers as the node does.
func (p *protocol) fromNode(r *request) (any, error) {
	a, err := p.ask(r)
	if err == nil && a.Status != http.StatusOK {
		err = &refusal{a}
	}
	return exchange.JSON(a.Body), err
}

// check has the node check a transaction, in JSON or as the hex of its bytes.
func (p *protocol) check(r *request) (any, error) {
	if len(r.Content()) == 0 {
		return nil, bad("the body is empty: expected a transaction")
	}
	if err := ratelimit.Submission(r.Writer()); err != nil {
		return nil, err
	}
	return p.fromNode(r)
}

// submit sends a transaction to the node. It is among the unconfirmed transactions before the answer is sent.
func (p *protocol) submit(r *request) (any, error) {
	a, err := p.check(r)
	if err != nil {
		return nil, err
	}
	if id, ok := boxes.AcceptedID(ergo.NodeAnswer{Status: http.StatusOK, Body: a.(exchange.JSON)}); ok {
		p.Enter(r.Context(), model.Hash(id))
	}
	return a, nil
}

// info answers the state of the server in the form of the node, with the fields of the node that are not about blocks.
func (p *protocol) info(r *request) answer {
	fields := map[string]any{"name": "birthmark", "appVersion": apiVersion, "stateType": "utxo", "network": p.Network}
	if p.Node() != nil {
		if a, err := p.ask(r); err == nil && a.Status == http.StatusOK {
			d := json.NewDecoder(bytes.NewReader(a.Body))
			d.UseNumber()         // some exceed 64 bits
			_ = d.Decode(&fields) // the fields above remain if this fails
		}
	}
	return func(v *view) (any, error) { return fields, v.setInfo(fields) }
}

// setInfo sets the fields about blocks.
func (v *view) setInfo(fields map[string]any) error {
	fields["unconfirmedCount"] = v.PendingCount()
	for _, name := range []string{"fullHeight", "bestFullHeaderId", "previousFullHeaderId", "stateRoot", "difficulty", "genesisBlockId"} {
		fields[name] = nil
	}
	if !v.Tip.IsOrigin() {
		b, err := v.Block(v.Tip.Height)
		if err != nil {
			return err
		}
		first, err := v.Block(1)
		if err != nil {
			return err
		}
		h := b.Header
		fields["fullHeight"], fields["bestFullHeaderId"] = b.Height, b.ID.String()
		fields["previousFullHeaderId"] = model.Hash(h.Parent).String()
		fields["stateRoot"], fields["genesisBlockId"] = hex.EncodeToString(h.StateRoot[:]), first.ID.String()
		fields["difficulty"] = json.Number(h.Difficulty().String())
		headers, _ := fields["headersHeight"].(json.Number)
		if n, err := headers.Float64(); err != nil || n < float64(b.Height) {
			fields["headersHeight"], fields["bestHeaderId"] = b.Height, b.ID.String()
		}
	}
	return nil
}

// apiVersion is the version of the node whose API this is.
const apiVersion = "6.0.4"
