package kupo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"birthmark/api/exchange"
	"birthmark/api/problem"
)

// hint is an error of a request, in the form of Kupo.
type hint struct {
	status  int
	Text    string `json:"hint"`
	Details any    `json:"details,omitempty"`
}

func (e *hint) Error() string { return e.Text }

func hintf(status int, format string, args ...any) error {
	return &hint{status: status, Text: fmt.Sprintf(format, args...)}
}

func bad(format string, args ...any) error { return hintf(http.StatusBadRequest, format, args...) }

var (
	errNoEndpoint = hintf(http.StatusNotFound, "no such endpoint: there are matches, datums, scripts, metadata, checkpoints, "+
		"patterns, health and metrics")
	errMethod = hintf(http.StatusNotAcceptable, "this endpoint does not take the method of the request: use GET")

	errPattern = bad("invalid pattern: expected *, an address, a stake address, CREDENTIAL/CREDENTIAL, POLICY.NAME, " +
		"INDEX@TRANSACTION, or * in place of a part")
	errLabelPattern = bad("patterns of metadata labels select no outputs: list the matches of *@TRANSACTION instead")
	errStatus       = bad("spent and unspent are flags without a value, and exclude each other")
	errRange        = bad("invalid range: created_after, created_before, spent_after and spent_before are a slot, or SLOT.HEADER_HASH; " +
		"there can be one lower and one upper bound")
	errFilter = bad("invalid filter: policy_id, asset_name and transaction_id are hex, asset_name needs policy_id, output_index needs " +
		"transaction_id, and each can be given once")
	errOrder      = bad("order is most_recent_first or oldest_first, once")
	errResolve    = bad("resolve_hashes is a flag without a value")
	errSlot       = bad("a slot is a number, counted from the first slot of the network")
	errStrict     = bad("strict is the only parameter of a checkpoint, a flag without a value")
	errDatumHash  = bad("a datum hash has 64 hex digits (Blake2b-256)")
	errScriptHash = bad("a script hash has 56 hex digits (Blake2b-224)")
	errMetadata   = bad("transaction_id is the only parameter of metadata, and is hex")
	errNoBlock    = bad("no block at this slot")
	errMedia      = bad("the header Accept allows neither application/json nor text/plain")
	errPoint      = bad("the chain has no block at or before this point")
	errDelete     = bad("nothing can be deleted: this server indexes every output, not only those of patterns")
)

const jsonType = "application/json;charset=utf-8"

// failure returns the answer of an error.
func failure(_ *request, err error) exchange.Failure {
	e, ok := errors.AsType[*hint](err)
	if !ok {
		p := problem.Of(err)
		e = &hint{status: p.Status, Text: p.Detail}
	}
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // impossible: details are of simple types
	}
	return exchange.Failure{Status: e.status, Type: jsonType, Body: body}
}
