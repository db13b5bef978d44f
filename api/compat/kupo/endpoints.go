package kupo

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/api/exchange"
	"birthmark/api/served"
	"birthmark/core/query"
)

// Options configure a handler.
type Options struct {
	Chain   *served.Chain
	Path    string       // below which the API is served: "/kupo"
	Version string       // of this program
	InSync  func() bool  // whether the database is near the tip of its source
	Log     *slog.Logger // nil: no log
}

// Needs lists the indexes that patterns, datums and scripts read.
var Needs = served.Needs{Chain: "cardano", Preset: "kupo", Parts: []served.Need{
	{Index: utxo.AddressIndex}, {Index: utxo.PaymentIndex}, {Index: utxo.StakeIndex}, {Index: utxo.PolicyIndex},
	{Index: utxo.DatumIndex}, {Index: utxo.ScriptIndex},
	served.Custom(&utxo.FailedDatums, 0, "datums of transactions whose scripts failed"),
	served.Custom(&utxo.FailedScripts, 0, "scripts of transactions whose scripts failed"),
	{Raw: true},
}}

// New returns the handler of all requests below the path of o. The chain must fulfil [Needs].
func New(o Options) http.Handler {
	p := &protocol{o}
	return exchange.Handler(exchange.Protocol[*view]{
		Path: o.Path, JSON: jsonType, Log: o.Log, Endpoints: p.endpoints(), Open: p.open, ETag: (*view).etag, Error: failure,
		NotFound: p.notFound,
	})
}

// protocol has the endpoints.
type protocol struct{ Options }

type (
	request = exchange.Request
	answer  = func(*view) (any, error)
)

func (p *protocol) endpoints() []exchange.Endpoint[*view] {
	get := func(path string, a func(*request) answer) exchange.Endpoint[*view] {
		return exchange.Endpoint[*view]{Method: http.MethodGet, Path: path, Answer: a}
	}
	state := func(path string, a func(*request) answer) exchange.Endpoint[*view] {
		return exchange.Endpoint[*view]{Method: http.MethodGet, Path: path, Answer: a, Volatile: true}
	}
	fixed := func(method, path string, a func(*request) (any, error)) exchange.Endpoint[*view] {
		return exchange.Endpoint[*view]{Method: method, Path: path, Node: a}
	}
	all := []exchange.Endpoint[*view]{
		get("matches", matches),
		get("matches/{pattern}", matches),
		get("matches/{payment}/{delegation}", matches),
		fixed(http.MethodDelete, "matches", deleteMatches),
		fixed(http.MethodDelete, "matches/{pattern}", deleteMatches),
		fixed(http.MethodDelete, "matches/{payment}/{delegation}", deleteMatches),

		get("datums/{hash}", datum),
		get("scripts/{hash}", script),
		get("metadata/{slot}", metadata),
		get("checkpoints", checkpoints),
		get("checkpoints/{slot}", checkpoint),

		fixed(http.MethodGet, "patterns", patterns),
		fixed(http.MethodGet, "patterns/{pattern}", patterns),
		fixed(http.MethodGet, "patterns/{payment}/{delegation}", patterns),
		fixed(http.MethodPut, "patterns", patterns),
		fixed(http.MethodPut, "patterns/{pattern}", patterns),
		fixed(http.MethodPut, "patterns/{payment}/{delegation}", patterns),
		fixed(http.MethodDelete, "patterns", deletePattern),
		fixed(http.MethodDelete, "patterns/{pattern}", deletePattern),
		fixed(http.MethodDelete, "patterns/{payment}/{delegation}", deletePattern),

		state("health", p.health),
		state("metrics", p.metrics),
	}
	for _, e := range all {
		if e.Method == http.MethodGet {
			all = append(all, fixed(http.MethodOptions, e.Path, func(*request) (any, error) { return exchange.JSON(nil), nil }))
		}
	}
	for _, e := range all {
		e.Path = version1 + e.Path
		all = append(all, e)
	}
	return all
}

// version1 is a part of paths that clients can leave out.
const version1 = "v1/"

// notFound returns the error of a path without endpoint. Patterns with more than one slash are malformed.
func (p *protocol) notFound(r *request, path string, _ []string) error {
	first := func(path string) string {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, version1), "/")
		return first
	}
	asked, method := first(strings.TrimPrefix(path, "/")), r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	exists, takesMethod := false, false
	for _, e := range p.endpoints() {
		if first(e.Path) == asked {
			exists, takesMethod = true, takesMethod || e.Method == method
		}
	}
	switch {
	case !exists:
		return errNoEndpoint
	case !takesMethod:
		return errMethod
	case asked == "matches", asked == "patterns":
		return errPattern
	}
	return errNoEndpoint
}

// view is the chain at one tip, for one request.
type view struct {
	utxo.Reader
	tip *utxo.Point // nil: no block yet
}

func (p *protocol) open(r *request, fn func(*view) error) error {
	return p.Chain.View(r.Context(), func(all *query.View) error {
		return all.From(r.Context(), func(q *query.Query) error {
			v := &view{Reader: utxo.Reader{Q: q}}
			if !q.Tip.IsOrigin() {
				tip, err := v.Point(q.Tip.Height)
				if err != nil {
					return err
				}
				v.tip = &tip
				r.Header()["X-Most-Recent-Checkpoint"] = []string{strconv.FormatUint(tip.Slot, 10)}
			}
			return fn(v)
		})
	})
}

func (v *view) etag() string {
	if v.tip == nil {
		return ""
	}
	return v.tip.Hash.String()
}

// patternArg returns the pattern of the path, * without one.
func patternArg(r *request) string {
	if payment, ok := r.Arg("payment"); ok {
		delegation, _ := r.Arg("delegation")
		return payment + "/" + delegation
	}
	if text, ok := r.Arg("pattern"); ok {
		return text
	}
	return anything
}

// slotArg returns the slot of the path.
func slotArg(r *request) uint64 {
	text, _ := r.Arg("slot")
	slot, ok := readSlot(text)
	if !ok {
		r.Refuse(errSlot)
	}
	return slot
}

// hashArg returns the hash of the path; malformed is the error if it is not one of a size in bytes.
func hashArg(r *request, size int, malformed error) []byte {
	text, _ := r.Arg("hash")
	hash, ok := readHex(text, size)
	if !ok {
		r.Refuse(malformed)
	}
	return hash
}
