package ergonode

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/chains/ergo"
	"birthmark/model"
)

// nodeEndpoints are answered by the node of the settings, except that /info describes the blocks of this server.
var nodeEndpoints = []endpoint{
	{http.MethodGet, "info", info, unconfirmed},
	{http.MethodGet, "blocks/*", fromNode, nothing},
	{http.MethodGet, "blocks/modifier/*", fromNode, nothing},
	{http.MethodPost, "blocks/headerIds", fromNode, nothing},
	{http.MethodGet, "transactions/poolHistogram", fromNode, nothing},
	{http.MethodGet, "transactions/getFee", fromNode, nothing},
	{http.MethodGet, "transactions/waitTime", fromNode, nothing},
	{http.MethodPost, "transactions", submit, nothing},
	{http.MethodPost, "transactions/bytes", submit, nothing},
	{http.MethodPost, "transactions/check", check, nothing},
	{http.MethodPost, "transactions/checkBytes", check, nothing},
	{http.MethodGet, "emission/at/*", fromNode, nothing},
	{http.MethodGet, "emission/scripts", fromNode, nothing},
	{http.MethodGet, "nipopow/popowHeaderById/*", fromNode, nothing},
	{http.MethodGet, "nipopow/popowHeaderByHeight/*", fromNode, nothing},
	{http.MethodGet, "nipopow/proof/*/*", fromNode, nothing},
	{http.MethodGet, "utils/seed", fromNode, nothing},
}

// ask sends the request to the node.
func (q *request) ask(ctx context.Context, body []byte) (ergo.NodeAnswer, error) {
	node := q.Chain.Node()
	if node == nil {
		return ergo.NodeAnswer{}, problem.New(http.StatusNotFound, "not_found",
			"this needs a node, and this server has none: its setting node is the URL of one")
	}
	path := strings.Split(strings.Trim(strings.TrimPrefix(q.r.URL.Path, q.Path), "/"), "/")
	return node.Ask(ctx, path, q.r.URL.Query(), body)
}

// pass writes the answer of the node.
func (q *request) pass(a ergo.NodeAnswer) error {
	if a.Status != http.StatusOK {
		q.w.WriteHeader(a.Status)
		q.Sent = true
	}
	q.Out = append(q.Out, a.Body...)
	return nil
}

// fromNode answers as the node does.
func fromNode(q *request, _ []string) error {
	var body []byte
	if q.r.Method == http.MethodPost {
		var err error
		if body, err = q.body(); err != nil {
			return err
		}
	}
	a, err := q.ask(q.Ctx, body)
	if err != nil {
		return err
	}
	return q.pass(a)
}

// submit sends a transaction to the node, in JSON or as the hex of its bytes. It is among the unconfirmed transactions
// before the answer is sent.
func submit(q *request, _ []string) error { return q.send(true) }

// check has the node check a transaction.
func check(q *request, _ []string) error { return q.send(false) }

func (q *request) send(enter bool) error {
	body, err := q.body()
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return bad("the body is empty: expected a transaction")
	}
	if err := ratelimit.Submission(q.w); err != nil {
		return err
	}
	a, err := q.ask(q.Ctx, body)
	if err != nil {
		return err
	}
	var text string
	if enter && a.Status == http.StatusOK && json.Unmarshal(a.Body, &text) == nil {
		if id, err := parseID(text); err == nil {
			q.Chain.Enter(q.Ctx, model.Hash(id))
		}
	}
	return q.pass(a)
}

// info answers the state of the server in the form of the node, with the fields of the node that are not about blocks.
func info(q *request, _ []string) error {
	fields := map[string]any{"name": "birthmark", "appVersion": apiVersion, "stateType": "utxo", "network": q.Chain.Network}
	if q.Chain.Node() != nil {
		if a, err := q.ask(q.Ctx, nil); err == nil && a.Status == http.StatusOK {
			d := json.NewDecoder(bytes.NewReader(a.Body))
			d.UseNumber()         // some exceed 64 bits
			_ = d.Decode(&fields) // the fields above remain if this fails
		}
	}
	fields["unconfirmedCount"] = q.v.PendingCount()
	for _, name := range []string{"fullHeight", "bestFullHeaderId", "previousFullHeaderId", "stateRoot", "difficulty", "genesisBlockId"} {
		fields[name] = nil
	}
	if !q.v.Tip.IsOrigin() {
		b, err := q.v.Block(q.v.Tip.Height)
		if err != nil {
			return err
		}
		first, err := q.v.Block(1)
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
	body, err := json.Marshal(fields)
	q.Out = append(q.Out, body...)
	return err
}

// apiVersion is the version of the node whose API this is.
const apiVersion = "6.0.4"
