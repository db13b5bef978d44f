package ergotest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"birthmark/model"
)

const (
	// maxIDs is the maximum number of ids or headers in one response of the reference node.
	maxIDs = 16384
	// maxRequest is the maximum size in bytes of a request body.
	maxRequest = 8 << 20
)

// ServeHTTP answers as the reference node does.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	n.mu.Lock()
	n.active++
	n.most = max(n.most, n.active)
	n.asked[kindOf(r.URL.Path)]++
	a := n.answer(r, body)
	fault := n.fault
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		n.active--
		n.mu.Unlock()
	}()
	if fault != nil {
		fault(r, &a)
	}
	if a.Delay > 0 {
		select {
		case <-time.After(a.Delay):
		case <-r.Context().Done():
			return
		}
	}
	n.send(w, r, a)
}

func (n *Node) send(w http.ResponseWriter, r *http.Request, a Answer) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	for name, values := range a.Header {
		h[name] = values
	}
	if n.options.Gzip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var packed bytes.Buffer
		gz := gzip.NewWriter(&packed)
		_, _ = gz.Write(a.Body)
		_ = gz.Close()
		a.Body = packed.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Status)
	if a.Cut {
		_, _ = w.Write(a.Body[:len(a.Body)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(a.Body)
}

// kindOf returns a path without its ids and heights.
func kindOf(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if _, err := parseID(p); err == nil {
			parts[i] = "ID"
		} else if _, err := strconv.Atoi(p); err == nil {
			parts[i] = "N"
		}
	}
	return strings.Join(parts, "/")
}

func found(body []byte) Answer { return Answer{Status: http.StatusOK, Body: body} }

func foundJSON(v any) Answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return found(body)
}

// refused is an error response of the node.
func refused(status int, reason string) Answer {
	a := foundJSON(map[string]any{"error": status, "reason": reason, "detail": nil})
	a.Status = status
	return a
}

func (n *Node) answer(r *http.Request, body []byte) Answer {
	if key := n.options.APIKey; key != "" && r.Header.Get("api_key") != key {
		return refused(http.StatusForbidden, "invalid.api-key")
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	rest := path[min(1, len(path)):]
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/info":
		return n.info()
	case r.Method == http.MethodGet && r.URL.Path == "/utxo/genesis":
		return found(n.options.Genesis)
	case path[0] == "transactions":
		return n.transactions(r, rest, body)
	case path[0] != "blocks":
	case r.Method == http.MethodPost && r.URL.Path == "/blocks/headerIds" && !n.options.Old:
		return n.blocks(body)
	case r.Method != http.MethodGet:
		return Answer{Status: http.StatusMethodNotAllowed, Body: []byte("HTTP method not allowed, supported methods: GET")}
	case len(rest) == 0:
		return n.ids(r)
	case len(rest) == 2 && rest[0] == "at":
		return n.idsAt(rest[1])
	case len(rest) == 2 && rest[0] == "lastHeaders":
		return n.lastHeaders(rest[1])
	case len(rest) <= 2:
		return n.part(rest)
	}
	return Answer{Status: http.StatusNotFound, Body: []byte("The requested resource could not be found.")}
}

// ids returns ids of the best chain of headers from a height on.
func (n *Node) ids(r *http.Request) Answer {
	offset, limit := 0, 50
	for name, to := range map[string]*int{"offset": &offset, "limit": &limit} {
		if text := r.URL.Query().Get(name); text != "" {
			v, err := strconv.Atoi(text)
			if err != nil {
				return refused(http.StatusBadRequest, "bad.request")
			}
			*to = v
		}
	}
	if offset < 0 || limit < 0 || limit > maxIDs {
		return refused(http.StatusBadRequest, "bad.request")
	}
	ids := []string{}
	for h := offset; h < offset+limit; h++ {
		if b, ok := n.at(model.HeightPk(h)); ok {
			ids = append(ids, b.ID.String())
		}
	}
	return foundJSON(ids)
}

func (n *Node) idsAt(text string) Answer {
	height, err := strconv.ParseUint(text, 10, 26)
	if err != nil {
		return refused(http.StatusBadRequest, "bad.request")
	}
	ids := []string{}
	if b, ok := n.at(model.HeightPk(height)); ok {
		ids = append(ids, b.ID.String())
	}
	for _, id := range n.stale[model.HeightPk(height)] {
		ids = append(ids, id.String())
	}
	return foundJSON(ids)
}

func (n *Node) lastHeaders(text string) Answer {
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 || count > maxIDs {
		return refused(http.StatusBadRequest, "bad.request")
	}
	headers := []json.RawMessage{}
	for _, b := range n.best[max(0, len(n.best)-count):] {
		headers = append(headers, member(b.JSON, "header"))
	}
	return foundJSON(headers)
}

// part returns a block or a part of it. Headers are also available for missing blocks.
func (n *Node) part(path []string) Answer {
	id, err := parseID(path[0])
	if err != nil {
		return refused(http.StatusBadRequest, "bad.request")
	}
	b, ok := n.block(id)
	switch {
	case len(path) == 1 && ok:
		return found(b.JSON)
	case len(path) == 2 && path[1] == "transactions" && ok:
		return found(member(b.JSON, "blockTransactions"))
	case len(path) == 2 && path[1] == "header":
		if b, ok := n.known[id]; ok {
			return found(member(b.JSON, "header"))
		}
	}
	return refused(http.StatusNotFound, "not-found")
}

// member returns one member of a full block.
func member(block []byte, name string) []byte {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(block, &members); err != nil || members[name] == nil {
		panic("a block without " + name)
	}
	return members[name]
}

func (n *Node) blocks(body []byte) Answer {
	var ids []string
	if err := json.Unmarshal(body, &ids); err != nil {
		return refused(http.StatusBadRequest, "bad.request")
	}
	all := []byte{'['}
	for _, text := range ids {
		id, err := parseID(text)
		if err != nil {
			return refused(http.StatusBadRequest, "bad.request")
		}
		if b, ok := n.block(id); ok {
			if len(all) > 1 {
				all = append(all, ',')
			}
			all = append(all, b.JSON...)
		}
	}
	return found(append(all, ']'))
}

// info is the response of /info; unknown fields are null.
func (n *Node) info() Answer {
	i := map[string]any{
		"name": "ergotest", "appVersion": "6.0.4", "network": n.options.Network, "stateType": "utxo",
		"currentTime": 0, "launchTime": 0, "lastSeenMessageTime": 0, "unconfirmedCount": len(n.pool.txs), "peersCount": 0,
		"isMining": false, "isExplorer": false, "eip27Supported": true, "eip37Supported": true,
		"fullHeight": nil, "headersHeight": nil, "maxPeerHeight": nil, "bestFullHeaderId": nil, "bestHeaderId": nil,
		"previousFullHeaderId": nil, "genesisBlockId": nil, "difficulty": nil, "stateRoot": nil, "stateVersion": nil,
		"headersScore": nil, "fullBlocksScore": nil, "parameters": map[string]int{
			"height": 0, "storageFeeFactor": 1_250_000, "minValuePerByte": 360, "maxBlockSize": 524_288, "maxBlockCost": 1_000_000,
			"blockVersion": 1, "tokenAccessCost": 100, "inputCost": 2_000, "dataInputCost": 100, "outputCost": 100,
		},
	}
	if n.options.Old {
		delete(i, "network")
	}
	if len(n.best) > 0 {
		last := n.best[len(n.best)-1]
		i["headersHeight"], i["maxPeerHeight"], i["bestHeaderId"] = last.Height, last.Height, last.ID.String()
		if n.best[0].Height == 1 {
			i["genesisBlockId"] = n.best[0].ID.String()
		}
	}
	if n.full != nil {
		i["fullHeight"], i["bestFullHeaderId"], i["previousFullHeaderId"] = n.full.Height, n.full.ID.String(), n.full.Parent.String()
	}
	return foundJSON(i)
}
