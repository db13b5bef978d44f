package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"

	"birthmark/api/compat/blockfrost/positions"
	"birthmark/api/compat/blockfrost/state"
	"birthmark/api/compat/blockfrost/sums"
	"birthmark/api/compat/utxo"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/node"
	"birthmark/core/query"
)

// Options configure a handler.
type Options struct {
	Chain   *served.Chain
	Path    string       // below which the API is served: "/api/v0"
	Version string       // of this program
	InSync  func() bool  // whether the database is near the tip of its source
	Log     *slog.Logger // nil: no log
}

// Server is the state that all requests share.
type Server struct {
	Options
	Pages      *positions.Memory
	Network    *state.Network // nil: its constants are unknown
	Parameters *state.Last[node.Parameters]
	Stakes     *state.Last[node.Stakes]
	Sums       *sums.Memory
}

// NewServer returns the server of a chain.
func NewServer(o Options) *Server {
	return &Server{
		Options: o, Pages: positions.New(), Network: state.Networks[o.Chain.Model.Network()],
		Parameters: new(state.Last[node.Parameters]), Stakes: new(state.Last[node.Stakes]), Sums: new(sums.Memory),
	}
}

// Request is a request and its answer.
type Request struct {
	*Server
	utxo.Reader // of one snapshot
	View        *query.View
	Ctx         context.Context
	R           *http.Request
	W           http.ResponseWriter
	Args        []string   // the variable parts of the path
	Page        Paging     // that a request for a list selects
	from, to    *place     // the part of the chain that it selects; nil: without this end
	Values      url.Values // of the query
	Release     func()     // of the cost of an expensive answer; nil: it is cheap
	Answer      any        // JSON, or already encoded as json.RawMessage
}

// JSONType is the content type of answers.
const JSONType = "application/json; charset=utf-8"

// Encode returns an answer as JSON. It uses the memory of b.
func Encode(v any, b *bytes.Buffer) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Expensive makes the request one that reads many rows: it counts as such until it is answered.
func (q *Request) Expensive() error {
	if q.Release != nil {
		return nil
	}
	release, err := ratelimit.Take(q.W, ratelimit.Heavy)
	q.Release = release
	return err
}

// NetworkName returns the network of addresses.
func (q *Request) NetworkName() address.Network {
	name := q.Chain.Model.Network()
	return address.Network{Name: name, Testnet: name != address.Mainnet.Name}
}

// ParseAddress reads an address of this network.
func (q *Request) ParseAddress(text string) ([]byte, error) {
	for _, x := range q.Chain.Model.Indexes() {
		if x.Name == utxo.AddressIndex {
			return x.Parse(text)
		}
	}
	panic("blockfrost: a chain without the index of addresses") // New refuses it
}

// StakeAddress returns the stake address of a stored credential on this network.
func (q *Request) StakeAddress(cred []byte) string {
	return address.FormatStakeCredential(q.NetworkName(), cred)
}
