package attack

import (
	"encoding/json"
	"fmt"
	"strings"

	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
)

// Attack is a request that many clients send at once.
type Attack struct {
	Name    string // protocol and operation
	Clients int
	Reads   bool // clients read the answer; otherwise they wait, and read nothing
	Outside bool // clients are on another machine, so that the limits of a client apply: all of them are one client
	request request
	probe   request // of another client, on this machine
}

// request is a request over HTTP, Electrum's protocol, or a WebSocket.
type request struct {
	electrum bool
	method   string // of HTTP; empty: the path is that of a WebSocket
	path     string
	body     string // or the lines of Electrum, or the messages of a WebSocket
	accept   string // header; empty: none
}

func get(path string, args ...any) request {
	return request{method: "GET", path: fmt.Sprintf(path, args...)}
}

func post(path, body string) request { return request{method: "POST", path: path, body: body} }

// stream returns a request for a list of /v1 whose entries are lines.
func stream(r request) request {
	r.accept = "application/x-ndjson"
	return r
}

const eventStream = "text/event-stream"

// events returns a request for events, whose answer does not end.
func events(r request) request {
	r.accept = eventStream
	return r
}

func socket(path, message string) request { return request{path: path, body: message} }

// line returns a request of the Electrum protocol.
func line(method string, params ...any) request {
	return request{electrum: true, body: call(1, method, params...) + "\n"}
}

// batch returns n equal requests of the Electrum protocol in one message.
func batch(n int, method string, params ...any) request {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = call(i, method, params...)
	}
	return request{electrum: true, body: "[" + strings.Join(calls, ",") + "]\n"}
}

// messages returns n equal messages of the WebSocket of Ogmios.
func messages(n int, method string) string {
	return strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"id":1}`+"\n", method), n), "\n")
}

func call(id int, method string, params ...any) string {
	text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err != nil {
		panic(err) // parameters are texts and numbers
	}
	return string(text)
}

// Numbers of clients.
const (
	many    = 400
	dozens  = 60
	perHost = 12 // connections of a client of the Electrum protocol
)

// introspection returns a question about the schema of GraphQL. The size of its answer is a power of the number of
// aliases of each field.
func introspection(aliases int) string {
	text := ""
	fields := func(name, fragment string) {
		for i := range aliases {
			text += fmt.Sprintf("%c%d:%s{...%s}", fragment[0]|0x20, i, name, fragment)
		}
		text += "}"
	}
	text += "{"
	fields("__schema", "A")
	for _, f := range []struct{ fragment, of, field, next string }{
		{"A", "__Schema", "types", "B"}, {"B", "__Type", "fields", "C"}, {"C", "__Field", "type", "D"},
		{"D", "__Type", "fields", "E"},
	} {
		text += "fragment " + f.fragment + " on " + f.of + "{"
		fields(f.field, f.next)
	}
	return `{"query":"` + text + `fragment E on __Field{name}"}`
}

// Attacks returns the attacks on a server. R1 to R4 once took the most memory or time. The others are the expensive
// operations of each protocol, with clients that do not read.
func (s *Server) Attacks() (all []Attack) {
	v1 := func(chain, path string, args ...any) request { return get("/v1/"+s.names[chain]+path, args...) }
	probes := map[string]request{
		"electrum": line("blockchain.scripthash.get_balance", s.quietHash),
		"esplora":  get("/api/address/%s", s.quiet), "blockbook": get("/blockbook/api/v2/address/%s?details=basic", s.quiet),
		"v1":       v1(bitcoin.Name, "/balance/address/%s", s.quiet),
		"explorer": get("/%s/address/%s", s.names[bitcoin.Name], s.quiet),
		"kupo":     get("/kupo/checkpoints/10"), "blockfrost": get("/api/v0/blocks/10"),
		"ergonode": get("/node/blocks/at/10"), "ergoexplorer": get("/explorer/api/v1/blocks?limit=1"),
		"graphql": post("/graphql", `{"query":"{state{height}}"}`), "ogmios": get("/kupo/checkpoints/10"),
	}
	add := func(name string, clients int, reads, outside bool, r request) {
		protocol, _, _ := strings.Cut(name, " ")
		all = append(all, Attack{name, clients, reads, outside, r, probes[protocol]})
	}
	add("graphql R1 introspection", dozens, true, true, post("/graphql", introspection(6)))
	add("electrum R2 listunspent", many, false, false, line("blockchain.scripthash.listunspent", s.scriptHash))
	histories := batch(1000, "blockchain.scripthash.get_history", s.scriptHash)
	add("electrum R3 batch of get_history", perHost, true, true, histories)
	add("kupo R4 spent_after", dozens, true, true, get("/kupo/matches?spent_after=999999999"))

	unread := func(protocol string, requests map[string]request) {
		for _, name := range sortedKeys(requests) {
			add(protocol+" "+name, many, false, false, requests[name])
		}
	}
	unread("electrum", map[string]request{
		"get_history": line("blockchain.scripthash.get_history", s.scriptHash),
		"get_mempool": line("blockchain.scripthash.get_mempool", s.scriptHash),
		"get_balance": line("blockchain.scripthash.get_balance", s.scriptHash),
		"subscribe":   line("blockchain.scripthash.subscribe", s.scriptHash),
		"headers":     batch(100, "blockchain.block.headers", 0, 2016),
		"batch":       batch(1000, "blockchain.scripthash.listunspent", s.scriptHash),
	})
	unread("esplora", map[string]request{
		"utxo": get("/api/address/%s/utxo", s.address), "txs": get("/api/address/%s/txs", s.address),
		"txs/mempool": get("/api/address/%s/txs/mempool", s.address), "address": get("/api/address/%s", s.address),
		"mempool/txids": get("/api/mempool/txids"), "block/txids": get("/api/block/%s/txids", s.largest),
		"block/raw": get("/api/block/%s/raw", s.bitcoinTip), "block/txs": get("/api/block/%s/txs/0", s.largest),
	})
	account := fmt.Sprintf(`{"id":"1","method":"%%s","params":{"descriptor":%q,"details":"txs","pageSize":1000}}`,
		s.address)
	unread("blockbook", map[string]request{
		"utxo":           get("/blockbook/api/v2/utxo/%s", s.address),
		"txs":            get("/blockbook/api/v2/address/%s?details=txs&pageSize=1000", s.address),
		"txids":          get("/blockbook/api/v2/address/%s?details=txids&pageSize=1000", s.address),
		"block":          get("/blockbook/api/v2/block/%s", s.largest),
		"getAccountInfo": socket("/blockbook/websocket", fmt.Sprintf(account, "getAccountInfo")),
		"getAccountUtxo": socket("/blockbook/websocket", fmt.Sprintf(account, "getAccountUtxo")),
		"subscribe": socket("/blockbook/websocket", `{"id":"1","method":"subscribeAddresses","params":{"addresses":["`+
			s.address+`"]}}`+strings.Repeat("\n"+fmt.Sprintf(account, "getAccountInfo"), 8)),
	})
	unread("v1", map[string]request{
		"find":     v1(bitcoin.Name, "/find/address/%s?limit=1000&mempool=include", s.address),
		"history":  v1(bitcoin.Name, "/history/address/%s?limit=1000&mempool=include", s.address),
		"balance":  v1(bitcoin.Name, "/balance/address/%s?mempool=include", s.address),
		"unspent":  v1(bitcoin.Name, "/find/address/%s?limit=1000&unspent=true", s.address),
		"mempool":  v1(bitcoin.Name, "/mempool/transactions?limit=1000"),
		"template": v1(bitcoin.Name, "/mempool/blocks"),
		"richest":  v1(bitcoin.Name, "/richest/address?limit=1000"),
		"block":    v1(bitcoin.Name, "/block/%s", s.largest), "blocks": v1(bitcoin.Name, "/blocks?limit=1000"),
		"stream": stream(v1(bitcoin.Name, "/find/address/%s", s.address)),
		"events": events(v1(bitcoin.Name, "/events?from=1&spends=true&follow=address%%3D%s", s.address)),
	})
	unread("explorer", map[string]request{
		"address":     get("/%s/address/%s", s.names[bitcoin.Name], s.address),
		"history.csv": get("/%s/address/%s/history.csv", s.names[bitcoin.Name], s.address),
		"block":       get("/%s/block/%s", s.names[bitcoin.Name], s.largest),
		"mempool":     get("/%s/mempool", s.names[bitcoin.Name]),
		"charts":      get("/%s/charts", s.names[bitcoin.Name]),
		"producers":   get("/%s/producers", s.names[bitcoin.Name]),
		"sent":        get("/%s/address/%s?direction=sent", s.names[bitcoin.Name], s.address),
		"account":     get("/%s/address/%s", s.names[cardano.Name], s.cardano),
		"richest":     get("/%s/richest/address", s.names[cardano.Name]),
	})
	policy := s.asset[:min(len(s.asset), 56)]
	unread("kupo", map[string]request{
		"matches": get("/kupo/matches"), "address": get("/kupo/matches/%s", s.cardano),
		"policy":         get("/kupo/matches/%s.*", policy),
		"spent":          get("/kupo/matches?spent"),
		"transaction_id": get("/kupo/matches?transaction_id=%s", strings.Repeat("0", 64)),
	})
	unread("blockfrost", map[string]request{
		"utxos":        get("/api/v0/addresses/%s/utxos", s.cardano),
		"transactions": get("/api/v0/addresses/%s/transactions", s.cardano),
		"total":        get("/api/v0/addresses/%s/total", s.cardano), "asset": get("/api/v0/assets/%s", s.asset),
		"asset/addresses": get("/api/v0/assets/%s/addresses", s.asset), "policy": get("/api/v0/assets/policy/%s", policy),
		"page": get("/api/v0/addresses/%s/utxos?page=1000", s.cardano), "block": get("/api/v0/blocks/10/addresses"),
	})
	unread("ergonode", map[string]request{
		"unspent": get("/node/blockchain/box/unspent/byAddress/%s?limit=16384", s.ergo),
		"boxes":   get("/node/blockchain/box/byAddress/%s?limit=16384", s.ergo),
		"txs":     get("/node/blockchain/transaction/byAddress/%s?limit=16384", s.ergo),
		"balance": post("/node/blockchain/balance", s.ergo),
	})
	unread("ergoexplorer", map[string]request{
		"unspent": get("/explorer/api/v1/boxes/unspent/byAddress/%s?limit=500", s.ergo),
		"stream":  get("/explorer/api/v1/boxes/unspent/stream?minHeight=0&maxHeight=1000"),
		"txs":     get("/explorer/api/v1/addresses/%s/transactions?limit=500", s.ergo),
	})
	unread("ogmios", map[string]request{"epoch": socket("/ogmios", messages(100, "queryLedgerState/epoch"))})
	const fields = "boxId ergoTree additionalRegisters assets{tokenId amount}"
	unread("graphql", map[string]request{
		"boxes":   post("/graphql", fmt.Sprintf(`{"query":"{boxes(address:\"%s\",take:50){%s}}"}`, s.ergo, fields)),
		"headers": post("/graphql", `{"query":"{blockHeaders(take:50){headerId}}"}`),
	})
	return all
}
