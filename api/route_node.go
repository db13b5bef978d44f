package api

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"

	"birthmark/api/docs"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/model"
)

// nodeAsker answers a request by the node of a chain.
type nodeAsker = func(ctx context.Context, q *request) (any, error)

// nodeQuestion has the parts of a request that the node answers.
type nodeQuestion struct {
	targets []int
	mode    string
	limits  model.SubmitOptions
	txs     [][]byte
}

// nodeOperations are answered by the node of a chain, not by the database.
func nodeOperations() []*operation {
	submit := byNode("submit", http.MethodPost, "/tx", "Submit a transaction",
		"The body is the serialized transaction in hex, of any content type. The answer has its hash. If the node refuses "+
			"it, the code is `rejected`, the detail is the node's message, and `node_code` its error code.", SubmitAnswer{},
		func(ctx context.Context, q *request) (any, error) {
			id, err := q.chain.Submitter.Submit(ctx, q.node.txs[0], q.node.limits)
			if pool := q.chain.Mempool; err == nil && pool != nil {
				_ = pool.Enter(ctx, id) // if this fails, the next list of the node has the transaction
			}
			return &SubmitAnswer{q.chain.Model.FormatHash(id)}, err
		}).with(submitParameters)
	submit.submits, submit.TextBody = true, "02000000…"
	test := byNode("testTxs", http.MethodPost, "/tx/test", "Test transactions",
		"Whether the node would accept transactions, without submitting them. The results are those of the node: on Bitcoin "+
			"of `testmempoolaccept`.", TestTxsAnswer{},
		func(ctx context.Context, q *request) (any, error) {
			results, err := q.chain.Submitter.TestAccept(ctx, q.node.txs, q.node.limits)
			return &TestTxsAnswer{results}, err
		}).with([]*parameter{maxFeeRateParameter}).shown(docs.Example{Path: "/tx/test", Body: `{"txs":["02000000…"]}`})
	pack := byNode("submitPackage", http.MethodPost, "/tx/package", "Submit dependent transactions",
		"Parents first. The result is that of the node: on Bitcoin of `submitpackage`. A node without this method gets one "+
			"transaction after the other.", PackageAnswer{},
		func(ctx context.Context, q *request) (any, error) {
			result, err := q.chain.Submitter.SubmitPackage(ctx, q.node.txs, q.node.limits)
			return &PackageAnswer{result}, err
		}).with(submitParameters).shown(docs.Example{Path: "/tx/package", Body: `{"txs":["02000000…","02000000…"]}`})
	for _, op := range []*operation{test, pack} {
		op.submits = true
		op.body, op.Body = func() any { return new(RawTxs) }, new(RawTxs)
	}
	fees := byNode("fees", http.MethodGet, "/fees", "Fee estimates",
		"The fee rates with which the node expects a transaction to be confirmed within a number of blocks, and the lowest "+
			"rates that it accepts. Estimates are up to a minute old.", FeesAnswer{}, askFees).with(feeParameters)
	return []*operation{submit, test, pack, fees}
}

func byNode(id, method, path, summary, doc string, answer any, ask nodeAsker) *operation {
	op := get(id, path, "node", summary, doc, answer, nil)
	op.Method, op.node, op.Node = method, ask, true
	return op
}

var decimal = regexp.MustCompile(`^[0-9]{1,8}(\.[0-9]{1,8})?$`)

// IsAmount reports whether a text is a limit of [model.SubmitOptions].
func IsAmount(text string) bool { return decimal.MatchString(text) }

func limitOf(name, doc string, of func(*model.SubmitOptions) *string) *parameter {
	return newParameter(name, "string", doc, "a decimal number such as 0.1", func(q *request, value string) bool {
		*of(&q.node.limits) = value
		return IsAmount(value)
	})
}

var (
	maxFeeRateParameter = limitOf("max_fee_rate", "Refuse a higher fee rate, in coins per 1,000 virtual bytes. Default: that of the node; 0: no limit.",
		func(o *model.SubmitOptions) *string { return &o.MaxFeeRate })
	submitParameters = []*parameter{
		maxFeeRateParameter,
		limitOf("max_burn_amount", "Refuse a higher amount of provably unspendable outputs, in coins. Default: that of the node.",
			func(o *model.SubmitOptions) *string { return &o.MaxBurnAmount }),
	}
	feeParameters = []*parameter{
		newParameter("target", "integer", "Confirmation target in blocks. Default: 1 to 25, 144, 504 and 1008.", "a number of blocks from 1 to 1008",
			func(q *request, value string) bool {
				n, err := strconv.Atoi(value)
				q.node.targets = append(q.node.targets, n)
				return err == nil && n >= 1 && n <= maxTarget && len(q.node.targets) <= maxTargets
			}).repeated(),
		textParameter("mode", "How the node estimates: on Bitcoin `economical` or `conservative`. Default: that of the node.",
			"a mode of the node", func(q *request, value string) { q.node.mode = value }),
	}
)

const (
	maxTarget  = 1008 // a week of Bitcoin's blocks
	maxTargets = 64   // in a request
	maxPackage = 100  // transactions in a request
)

// usualTargets are the confirmation targets of a request without any.
var usualTargets = func() (targets []int) {
	for n := range 25 {
		targets = append(targets, n+1)
	}
	return append(targets, 144, 504, maxTarget)
}()

func askFees(ctx context.Context, q *request) (any, error) {
	if q.node.targets == nil {
		q.node.targets = usualTargets
	}
	rates, err := q.chain.Fees.EstimateFees(ctx, q.node.targets, q.node.mode)
	if err != nil {
		return nil, err
	}
	minimum, err := q.chain.Fees.MinimumFees(ctx)
	if err != nil {
		return nil, err
	}
	a := &FeesAnswer{Chain: q.chain.Model.Name(), Network: q.chain.Model.Network(), Unit: q.chain.Model.Traits().Unit.Smallest + "/vB", Estimates: map[string]float64{}}
	for n, rate := range rates {
		a.Estimates[strconv.Itoa(n)] = rate / 1000
	}
	a.Minimum = MinimumFeesAnswer{minimum.Mempool / 1000, minimum.Relay / 1000, minimum.Increment / 1000}
	return a, nil
}

// askNode answers a request by the node.
func (q *request) askNode() (any, error) {
	if has := q.op.submits && q.chain.Submitter != nil || !q.op.submits && q.chain.Fees != nil; !has {
		return nil, problem.New(http.StatusNotFound, "no_node",
			"%s has no node for this on this server: its setting node is the URL of one", q.chain.Name)
	}
	if q.op.submits {
		if err := q.readTxs(); err != nil {
			return nil, err
		}
		if err := ratelimit.Submission(q.r.Writer()); err != nil {
			return nil, err
		}
	}
	answer, err := q.op.node(q.r.Context(), q)
	if err != nil {
		return nil, err
	}
	q.r.Header().Set("Cache-Control", "no-store")
	return &document{answer}, nil
}

// readTxs reads the transactions of a request.
func (q *request) readTxs() error {
	if q.op.TextBody != "" {
		text := bytes.TrimSpace(q.r.Content())
		if s, ok := q.chain.Model.(model.TxSerializer); ok && bytes.HasPrefix(text, []byte("{")) {
			raw, err := s.SerializeTx(text)
			q.node.txs = append(q.node.txs, raw)
			return err
		}
		return q.addTx("body", string(bytes.Trim(text, `"`)))
	}
	if err := q.readBody(); err != nil {
		return err
	}
	txs := q.body.(*RawTxs).Txs
	if len(txs) == 0 || len(txs) > maxPackage {
		return problem.New(http.StatusBadRequest, "bad_body", "txs: %d transactions, expected 1 to %d", len(txs), maxPackage)
	}
	for i, text := range txs {
		if err := q.addTx("txs["+strconv.Itoa(i)+"]", text); err != nil {
			return err
		}
	}
	return nil
}

func (q *request) addTx(where, text string) error {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return problem.New(http.StatusBadRequest, "bad_body", "%s: expected a serialized transaction in hex", where)
	}
	q.node.txs = append(q.node.txs, raw)
	return nil
}

// RawTxs are serialized transactions in hex.
type RawTxs struct {
	Txs []string `json:"txs"`
}

// SubmitAnswer is the answer to a submitted transaction.
type SubmitAnswer struct {
	Hash string `json:"hash"`
}

// TestTxsAnswer has the node's results of a test.
type TestTxsAnswer struct {
	Results json.RawMessage `json:"results"`
}

// PackageAnswer has the node's result of a package.
type PackageAnswer struct {
	Result json.RawMessage `json:"result"`
}

// FeesAnswer has fee rates of the node.
type FeesAnswer struct {
	Chain     string             `json:"chain"`
	Network   string             `json:"network"`
	Unit      string             `json:"unit"`
	Estimates map[string]float64 `json:"estimates"`
	Minimum   MinimumFeesAnswer  `json:"minimum"`
}

// MinimumFeesAnswer has the lowest fee rates that a node accepts.
type MinimumFeesAnswer struct {
	Mempool   float64 `json:"mempool"`
	Relay     float64 `json:"relay"`
	Increment float64 `json:"increment"`
}
