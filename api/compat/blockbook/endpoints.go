package blockbook

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

type (
	request = exchange.Request
	answer  = func(*question) (any, error)
)

// endpoints are the operations by REST. Their paths are below /api/v2, and below /api and /api/v1, where answers have the
// form of version 1.
func (s *Server) endpoints() []exchange.Endpoint[*question] {
	get := func(path string, a func(*request) answer) exchange.Endpoint[*question] {
		return exchange.Endpoint[*question]{Method: http.MethodGet, Path: path, Answer: a}
	}
	node := func(method, path string, a func(*request) (any, error)) exchange.Endpoint[*question] {
		return exchange.Endpoint[*question]{Method: method, Path: path, Node: a}
	}
	return []exchange.Endpoint[*question]{
		get("", s.getStatus),
		get("status", s.getStatus),
		get("block-index", getBlockIndex),
		get("block-index/{height}", getBlockIndex),
		get("block/{id}", s.getBlock),
		get("rawblock/{id}", getRawBlock),
		get("tx/{txid}", s.getTx),
		get("tx-specific/{txid}", s.getTxSpecific),
		get("rawtx/{txid}", getRawTx),
		get("address/{descriptor}", s.getAddress),
		get("xpub/{descriptor...}", s.getAddress),
		get("utxo/{descriptor...}", s.getUtxo),
		get("balancehistory/{descriptor...}", s.getBalanceHistory),
		get("feestats/{id}", getFeeStats),
		node(http.MethodGet, "estimatefee/{blocks}", s.getEstimateFee),
		node(http.MethodGet, "sendtx/{hex}", s.sendParam),
		node(http.MethodPost, "sendtx/{hex}", s.sendBody),
		node(http.MethodGet, "tickers/{rest...}", notServed),
		node(http.MethodGet, "tickers-list/{rest...}", notServed),
		node(http.MethodGet, "multi-tickers/{rest...}", notServed),
		node(http.MethodGet, "contract/{rest...}", notServed),
		node(http.MethodGet, "block-filters/{rest...}", notServed),
	}
}

func notServed(*request) (any, error) { return nil, errNotServed }

var errNotServed = model.Errorf(model.Usage, "unsupported",
	"not supported: this server has no fiat rates, tokens or block filters")

const jsonType = "application/json; charset=utf-8"

// largestBody is the largest body of a request in bytes: a transaction as large as a block, in hex.
const largestBody = 8 << 20

// rest returns the handler of the paths below one. Its answers are changed by form.
func (s *Server) rest(below string, form func(any) any) http.Handler {
	endpoints := s.endpoints()
	for i := range endpoints {
		if first := endpoints[i].Answer; first != nil {
			endpoints[i].Answer = func(r *request) answer {
				second := first(r)
				return func(q *question) (any, error) {
					a, err := second(q)
					if err != nil {
						return nil, err
					}
					return form(a), nil
				}
			}
		}
	}
	return exchange.Handler(exchange.Protocol[*question]{
		Path: s.Prefix + below, JSON: jsonType, End: "\n", MaxBody: largestBody, Log: s.Log,
		Endpoints: endpoints, Error: failure, NotFound: notFound,
		Open: func(r *request, fn func(*question) error) error { return s.view(r.Context(), fn) },
	})
}

// routes returns the handler of all paths.
func (s *Server) routes() http.Handler {
	same := func(a any) any { return a }
	v1, v2 := s.rest("/api/v1", version1), s.rest("/api/v2", same)
	plain := s.rest("/api", version1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		below := strings.TrimPrefix(r.URL.Path, s.Prefix)
		is := func(prefix string) bool { return below == prefix || strings.HasPrefix(below, prefix+"/") }
		switch {
		case is("/api/v2"):
			v2.ServeHTTP(w, r)
		case is("/api/v1"):
			v1.ServeHTTP(w, r)
		case is("/api"):
			plain.ServeHTTP(w, r)
		case strings.TrimSuffix(below, "/") == "/websocket" && r.Method == http.MethodGet:
			r.Pattern = s.Prefix + "/websocket"
			s.websocket(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// failure returns the answer of an error.
func failure(_ *request, err error) exchange.Failure {
	status, text := statusAndText(err)
	body := append(jsonappend.Append(nil, &errorValue{text}), '\n')
	return exchange.Failure{Status: status, Type: jsonType, Body: body}
}

// WriteProblem implements [exchange.ProblemWriter].
func (s *Server) WriteProblem(w http.ResponseWriter, p *problem.Problem) { failure(nil, p).Write(w) }

func notFound(r *request, _ string, _ []string) error {
	return model.Errorf(model.Usage, "unknown_path", "unknown path or method: %s %.80q", r.Method, r.URL.Path)
}

func (s *Server) getStatus(r *request) answer {
	host := r.Host
	node, err := s.node(r.Context())
	return func(q *question) (any, error) { return s.systemInfo(q.View, host, node, err) }
}

func getBlockIndex(r *request) answer {
	height, _ := r.Arg("height")
	return func(q *question) (any, error) {
		hash := q.Tip.Hash
		if height != "" {
			b, err := findBlock(q.View, height)
			if err != nil {
				return nil, err
			}
			hash = b.Hash
		}
		return &indexValue{block.FormatHash(hash)}, nil
	}
}

func (s *Server) getBlock(r *request) answer {
	id, _ := r.Arg("id")
	page := pageParam(r)
	return func(q *question) (any, error) { return s.block(q, id, page, pageSizeREST, form{light: true}) }
}

func getRawBlock(r *request) answer {
	id, _ := r.Arg("id")
	return func(q *question) (any, error) {
		raw, err := rawBlock(q, id)
		return &hexValue{hex.EncodeToString(raw)}, err
	}
}

func getFeeStats(r *request) answer {
	id, _ := r.Arg("id")
	return func(q *question) (any, error) { return fees(q, id) }
}

func (s *Server) getTx(r *request) answer {
	id, spending := txArg(r), boolParam(r, "spending")
	return func(q *question) (any, error) { return s.oneTx(q, id, spending) }
}

func (s *Server) getTxSpecific(r *request) answer {
	id := txArg(r)
	return func(q *question) (any, error) { return s.specific(q, id) }
}

func getRawTx(r *request) answer {
	id := txArg(r)
	return func(q *question) (any, error) {
		raw, _, err := rawTx(q, id)
		return hex.EncodeToString(raw), err
	}
}

func (s *Server) getAddress(r *request) answer {
	a := accountParams(r)
	return func(q *question) (any, error) { return s.accountInfo(q, a) }
}

func (s *Server) getUtxo(r *request) answer {
	descriptor, _ := r.Arg("descriptor")
	confirmed, gap := boolParam(r, "confirmed"), numberParam(r, "gap", 0, 1<<31-1)
	return func(q *question) (any, error) { return s.utxos(q, descriptor, gap, confirmed) }
}

func (s *Server) getBalanceHistory(r *request) answer {
	descriptor, _ := r.Arg("descriptor")
	from, to := numberParam(r, "from", 0, 1<<40), numberParam(r, "to", 0, 1<<40)
	group, gap := numberParam(r, "groupBy", 0, 1<<31), numberParam(r, "gap", 0, 1<<31)
	if group == 0 {
		group = defaultGroup
	}
	return func(q *question) (any, error) {
		return s.balanceHistory(q, descriptor, gap, int64(from), int64(to), int64(group))
	}
}

func (s *Server) getEstimateFee(r *request) (any, error) {
	text, _ := r.Arg("blocks")
	blocks, err := strconv.Atoi(text)
	if err != nil {
		r.Refuse(model.Errorf(model.Usage, "bad_value", "Parameter 'number of blocks' is not a number"))
	}
	conservative := !r.Query().Has("conservative") || boolParam(r, "conservative")
	if err := r.Refused(); err != nil {
		return nil, err
	}
	rate, err := s.estimate(r.Context(), blocks, conservative)
	return &result{formatBTC(rate)}, err
}

func (s *Server) sendParam(r *request) (any, error) {
	text, _ := r.Arg("hex")
	return s.send(r, text)
}

func (s *Server) sendBody(r *request) (any, error) {
	return s.send(r, strings.TrimSpace(string(r.Content())))
}

func (s *Server) send(r *request, text string) (any, error) {
	if err := ratelimit.Submission(r.Writer()); err != nil {
		return nil, err
	}
	return s.submit(r.Context(), text)
}
