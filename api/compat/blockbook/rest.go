package blockbook

import (
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/ratelimit"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// operation is a request by REST. Its path is below /api/v2, and below /api and /api/v1, where answers have the form of
// version 1.
type operation struct {
	method, path string
	answer       func(*Server, http.ResponseWriter, *http.Request) (any, error)
}

// reads is an operation that reads the chain.
func reads(path string, answer func(*Server, *question, *http.Request) (any, error)) operation {
	return operation{"GET", path, func(s *Server, w http.ResponseWriter, r *http.Request) (any, error) {
		return s.ask(r.Context(), func(q *question) (any, error) { return answer(s, q, r) })
	}}
}

var operations = []operation{
	{"GET", "", (*Server).getStatus},
	{"GET", "/{$}", (*Server).getStatus},
	{"GET", "/status", (*Server).getStatus},
	reads("/block-index/{$}", (*Server).getBlockIndex),
	reads("/block-index/{height}", (*Server).getBlockIndex),
	reads("/block/{id}", (*Server).getBlock),
	reads("/rawblock/{id}", (*Server).getRawBlock),
	reads("/tx/{txid}", (*Server).getTx),
	reads("/tx-specific/{txid}", (*Server).getTxSpecific),
	reads("/rawtx/{txid}", (*Server).getRawTx),
	reads("/address/{descriptor}", (*Server).getAddress),
	reads("/xpub/{descriptor...}", (*Server).getAddress),
	reads("/utxo/{descriptor...}", (*Server).getUtxo),
	reads("/balancehistory/{descriptor...}", (*Server).getBalanceHistory),
	reads("/feestats/{id}", (*Server).getFeeStats),
	{"GET", "/estimatefee/{blocks}", (*Server).getEstimateFee},
	{"GET", "/sendtx/{hex}", (*Server).sendTx},
	{"POST", "/sendtx/", (*Server).sendTx},
	{"GET", "/tickers/", notServed},
	{"GET", "/tickers-list/", notServed},
	{"GET", "/multi-tickers/", notServed},
	{"GET", "/contract/", notServed},
	{"GET", "/block-filters/", notServed},
}

func notServed(*Server, http.ResponseWriter, *http.Request) (any, error) { return nil, errNotServed }

var errNotServed = model.Errorf(model.Usage, "unsupported",
	"not supported: this server has no fiat rates, tokens or block filters")

// routes returns the handler of all paths.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, o := range operations {
		s.register(mux, o.method, o.path, func(w http.ResponseWriter, r *http.Request) (any, error) { return o.answer(s, w, r) })
	}
	s.register(mux, "", "/", func(_ http.ResponseWriter, r *http.Request) (any, error) {
		return nil, model.Errorf(model.Usage, "unknown_path", "unknown path or method: %s %.80q", r.Method, r.URL.Path)
	})
	mux.Handle("GET "+s.Prefix+"/websocket", http.HandlerFunc(s.websocket))
	mux.Handle("GET "+s.Prefix+"/websocket/{$}", http.HandlerFunc(s.websocket))
	return mux
}

// register adds a path below each prefix.
func (s *Server) register(
	mux *http.ServeMux, method, path string, answer func(http.ResponseWriter, *http.Request) (any, error),
) {
	legacy := func(w http.ResponseWriter, r *http.Request) (any, error) {
		a, err := answer(w, r)
		if err != nil {
			return nil, err
		}
		return version1(a), nil
	}
	for below, answer := range map[string]func(http.ResponseWriter, *http.Request) (any, error){
		"/api": legacy, "/api/v1": legacy, "/api/v2": answer,
	} {
		mux.Handle(strings.TrimSpace(method+" "+s.Prefix+below+path), s.handler(answer))
	}
}

// handler writes the answer of a function as JSON.
func (s *Server) handler(answer func(http.ResponseWriter, *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := answer(w, r)
		status := http.StatusOK
		if err != nil {
			var text string
			status, text = s.failure(err, r.Pattern)
			a = struct {
				Error string `json:"error"`
			}{text}
		}
		body, err := encode(a)
		if err != nil {
			status, _ = s.failure(err, r.Pattern)
			body = []byte(`{"error":"internal error"}`)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(body) // fails only if the client is gone
	})
}

func (s *Server) getStatus(w http.ResponseWriter, r *http.Request) (any, error) {
	node, err := s.node(r.Context())
	return s.ask(r.Context(), func(q *question) (any, error) { return s.systemInfo(q.View, r.Host, node, err) })
}

func (s *Server) getBlockIndex(q *question, r *http.Request) (any, error) {
	hash := q.Tip.Hash
	if id := r.PathValue("height"); id != "" {
		b, err := findBlock(q.View, id)
		if err != nil {
			return nil, err
		}
		hash = b.Hash
	}
	return struct {
		BlockHash string `json:"blockHash"`
	}{block.FormatHash(hash)}, nil
}

func (s *Server) getBlock(q *question, r *http.Request) (any, error) {
	page, err := pageNumber(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.block(q, r.PathValue("id"), page, pageSizeREST, form{light: true})
}

func (s *Server) getRawBlock(q *question, r *http.Request) (any, error) {
	raw, err := rawBlock(q, r.PathValue("id"))
	return struct {
		Hex string `json:"hex"`
	}{hex.EncodeToString(raw)}, err
}

func (s *Server) getTx(q *question, r *http.Request) (any, error) {
	spending, err := boolean(r.URL.Query(), "spending")
	if err != nil {
		return nil, err
	}
	return s.oneTx(q, r.PathValue("txid"), spending)
}

// oneTx returns a transaction.
func (s *Server) oneTx(q *question, id string, spenders bool) (*tx, error) {
	hash, err := txID(id)
	if err != nil {
		return nil, err
	}
	all, err := s.transactions(q.View, []model.Hash{hash}, form{spenders: spenders})
	if err != nil {
		return nil, inBlockbooksWords(err, id)
	}
	return all[0], nil
}

func txID(text string) (model.Hash, error) {
	hash, ok := block.ParseHash(text)
	if !ok {
		return hash, unknownTx(text)
	}
	return hash, nil
}

func inBlockbooksWords(err error, id string) error {
	if _, code := model.KindOf(err); code == "unknown_tx" {
		return unknownTx(id)
	}
	return err
}

func (s *Server) getTxSpecific(q *question, r *http.Request) (any, error) {
	return s.specific(q, r.PathValue("txid"))
}

// specific returns a transaction in the form of the node.
func (s *Server) specific(q *question, id string) (any, error) {
	raw, place, err := rawTx(q, id)
	if err != nil {
		return nil, err
	}
	var in *script.Confirmation
	if place.Confirmed {
		in = &script.Confirmation{
			Block: place.BlockHash, Confirmations: confirmations(q.View, place.Height), Time: place.BlockTime,
		}
	}
	text, err := script.AppendVerboseTx(nil, raw, s.chain.Address, in)
	return jsonText(text), err
}

// jsonText is an answer that is JSON already.
type jsonText []byte

// MarshalJSON implements [json.Marshaler].
func (t jsonText) MarshalJSON() ([]byte, error) { return t, nil }

func rawTx(q *question, id string) ([]byte, wallet.Place, error) {
	hash, err := txID(id)
	if err != nil {
		return nil, wallet.Place{}, err
	}
	raw, place, err := q.RawTx(hash)
	return raw, place, inBlockbooksWords(err, id)
}

func (s *Server) getRawTx(q *question, r *http.Request) (any, error) {
	raw, _, err := rawTx(q, r.PathValue("txid"))
	return hex.EncodeToString(raw), err
}

func (s *Server) getAddress(q *question, r *http.Request) (any, error) {
	request, err := parseAccountRequest(r.PathValue("descriptor"), r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.accountInfo(q, request)
}

func (s *Server) getUtxo(q *question, r *http.Request) (any, error) {
	query := r.URL.Query()
	confirmed, err := boolean(query, "confirmed")
	if err != nil {
		return nil, err
	}
	gap, err := number(query, "gap", 0, 1<<31-1)
	if err != nil {
		return nil, err
	}
	return s.utxos(q, r.PathValue("descriptor"), gap, confirmed)
}

func (s *Server) getBalanceHistory(q *question, r *http.Request) (any, error) {
	query := r.URL.Query()
	values := map[string]int{}
	for name, most := range map[string]int{"from": 1 << 40, "to": 1 << 40, "groupBy": 1 << 31, "gap": 1 << 31} {
		var err error
		if values[name], err = number(query, name, 0, most); err != nil {
			return nil, err
		}
	}
	if values["groupBy"] == 0 {
		values["groupBy"] = defaultGroup
	}
	return s.balanceHistory(q, r.PathValue("descriptor"), values["gap"],
		int64(values["from"]), int64(values["to"]), int64(values["groupBy"]))
}

func (s *Server) getFeeStats(q *question, r *http.Request) (any, error) {
	return fees(q, r.PathValue("id"))
}

func (s *Server) getEstimateFee(_ http.ResponseWriter, r *http.Request) (any, error) {
	blocks, err := strconv.Atoi(r.PathValue("blocks"))
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_value", "Parameter 'number of blocks' is not a number")
	}
	conservative := true
	if query := r.URL.Query(); query.Has("conservative") {
		if conservative, err = boolean(query, "conservative"); err != nil {
			return nil, err
		}
	}
	rate, err := s.estimate(r.Context(), blocks, conservative)
	return result{formatBTC(rate)}, err
}

func (s *Server) sendTx(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := ratelimit.Submission(w); err != nil {
		return nil, err
	}
	text := r.PathValue("hex")
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body) // limited by ratelimit
		if err != nil {
			return nil, err
		}
		text = strings.TrimSpace(string(body))
	}
	return s.submit(r.Context(), text)
}

// parseAccountRequest reads the parameters of a question about an account by REST.
func parseAccountRequest(descriptor string, q url.Values) (r *accountRequest, err error) {
	r = &accountRequest{descriptor: descriptor, details: detailsTxIDs, tokens: tokensNonzero, pageSize: pageSizeREST}
	if r.page, err = pageNumber(q); err != nil {
		return nil, err
	}
	if r.details, err = choice(q, "details", r.details, detailsNames); err != nil {
		return nil, err
	}
	if r.tokens, err = choice(q, "tokens", r.tokens, tokenFilters); err != nil {
		return nil, err
	}
	if r.direction, err = choice(q, "filter", r.direction, directions); err != nil {
		return nil, err
	}
	for name, to := range map[string]*int{"pageSize": &r.pageSize, "gap": &r.gap} {
		if *to, err = number(q, name, *to, 1<<31-1); err != nil {
			return nil, err
		}
	}
	for name, to := range map[string]*uint32{"from": &r.from, "to": &r.to} {
		n, err := number(q, name, 0, 1<<40)
		if err != nil {
			return nil, err
		}
		*to = uint32(min(n, model.MaxHeight))
	}
	r.pageSize = pageSize(r.pageSize, pageSizeREST, pageSizeREST)
	return r, nil
}

// pageSize returns the size of a page: 0 is the usual one, and more than most is that.
func pageSize(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

// maxPage is the largest number of a page.
const maxPage = 1_000_000

// pageNumber returns the requested page, from 0.
func pageNumber(q url.Values) (int, error) {
	n, err := number(q, "page", 1, maxPage)
	return max(n-1, 0), err
}

// number reads a parameter that is a number from 0 to most.
func number(q url.Values, name string, usual, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, badParameter(name, text, "a number from 0 to "+strconv.Itoa(most))
	}
	return n, nil
}

func boolean(q url.Values, name string) (bool, error) {
	text := q.Get(name)
	if text == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, model.Errorf(model.Usage, "bad_value", "Parameter '%s' cannot be converted to boolean", name)
	}
	return b, nil
}

// choice reads a parameter with a fixed set of values.
func choice[T any](q url.Values, name string, usual T, choices map[string]T) (T, error) {
	text := q.Get(name)
	if text == "" {
		return usual, nil
	}
	c, ok := choices[text]
	if !ok {
		return c, badParameter(name, text, "one of "+strings.Join(slices.Sorted(maps.Keys(choices)), ", "))
	}
	return c, nil
}

func badParameter(name, text, expected string) error {
	return model.Errorf(model.Usage, "bad_value", "%s: %.40q is not %s", name, text, expected)
}
