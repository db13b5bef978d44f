package coretest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

type request struct {
	Method string
	ID     json.RawMessage
	Params []json.RawMessage
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
	Error   *rpcError       `json:"error"`
}

// ServeHTTP answers JSON-RPC; the node has no REST.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	if u, p, _ := r.BasicAuth(); u != User || p != Password {
		w.Header().Set("WWW-Authenticate", `Basic realm="jsonrpc"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var batch []request
	alone := json.Unmarshal(body, &batch) != nil
	if alone {
		batch = make([]request, 1)
		if err := json.Unmarshal(body, &batch[0]); err != nil {
			http.Error(w, "Parse error", http.StatusInternalServerError)
			return
		}
	}
	n.mu.Lock()
	faults := n.faults
	n.mu.Unlock()
	if faults.Before != nil && len(batch) > 0 {
		faults.Before(batch[0].Method)
	}
	answers := make([]response, len(batch))
	n.mu.Lock()
	for i, q := range batch {
		n.calls[q.Method]++
		result, e := n.call(q.Method, q.Params)
		answers[i] = response{"2.0", q.ID, result, e}
	}
	n.mu.Unlock()
	if faults.Late != nil && len(batch) > 0 {
		faults.Late(batch[0].Method)
	}
	var answer any = answers
	if alone {
		answer = answers[0]
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// argument reads a parameter; false if it is missing, null, or of another type.
func argument[T any](params []json.RawMessage, i int, to *T) bool {
	return i < len(params) && string(params[i]) != "null" && json.Unmarshal(params[i], to) == nil
}

// call answers a call. mu is held.
func (n *Node) call(method string, params []json.RawMessage) (any, *rpcError) {
	if n.faults.Starting != "" {
		return nil, &rpcError{-28, n.faults.Starting}
	}
	if slices.Contains(n.faults.Lacks, method) {
		return nil, &rpcError{-32601, "Method not found"}
	}
	tip := n.chain.Height()
	switch method {
	case "getblockchaininfo":
		return map[string]any{
			"chain": "regtest", "blocks": tip, "headers": tip, "bestblockhash": n.chain.Tip().BlockHash().String(),
			"pruned": false, "initialblockdownload": false, "size_on_disk": 300, "warnings": []string{"pre-release test build"},
		}, nil
	case "getbestblockhash":
		return n.chain.Tip().BlockHash().String(), nil
	case "getblockhash":
		var h int
		if !argument(params, 0, &h) || h < 0 || h > tip {
			return nil, &rpcError{-8, "Block height out of range"}
		}
		return n.chain.Blocks()[h].BlockHash().String(), nil
	case "getblock":
		hash, ok := hashArgument(params, 0)
		if b := n.mined[hash]; ok && b != nil {
			return hex.EncodeToString(bitcointest.Bytes(b)), nil
		}
		return nil, &rpcError{-5, "Block not found"}
	case "getnetworkinfo":
		return map[string]any{
			"version": 280000, "subversion": "/Satoshi:28.0.0/", "protocolversion": 70016, "timeoffset": 0, "relayfee": 0.00001,
			"incrementalfee": 0.00001,
		}, nil
	case "getinfo": // btcd's; Core does not have it
		if slices.Contains(n.faults.Lacks, "getnetworkinfo") {
			return map[string]any{"version": 240200, "protocolversion": 70002, "timeoffset": -1, "relayfee": 0.00001}, nil
		}
	case "getzmqnotifications":
		if n.faults.NoZMQ {
			return []any{}, nil
		}
		at := n.publisher.address()
		return []map[string]any{
			{"type": "pubrawtx", "address": at, "hwm": highWater},
			{"type": "pubsequence", "address": at, "hwm": highWater},
		}, nil
	}
	return n.callMempool(method, params)
}

func hashArgument(params []json.RawMessage, i int) (h chainhash.Hash, ok bool) {
	var text string
	if !argument(params, i, &text) {
		return h, false
	}
	return h, chainhash.Decode(&h, text) == nil && len(text) == 64
}

func (n *Node) callMempool(method string, params []json.RawMessage) (any, *rpcError) {
	switch method {
	case "getrawmempool":
		ids := []string{}
		for _, e := range n.entries() {
			ids = append(ids, e.id.String())
		}
		var verbose, numbered bool
		argument(params, 0, &verbose)
		argument(params, 1, &numbered)
		switch {
		case verbose:
			return nil, &rpcError{-8, "the stand-in has no verbose list"}
		case numbered:
			return map[string]any{"txids": ids, "mempool_sequence": n.next}, nil
		}
		return ids, nil
	case "getrawtransaction":
		id, ok := hashArgument(params, 0)
		if e := n.pool[id]; ok && e != nil {
			return hex.EncodeToString(e.raw), nil
		}
		if hash, ok := hashArgument(params, 2); ok && n.mined[hash] != nil {
			for _, tx := range n.mined[hash].Transactions {
				if tx.TxHash() == id {
					return hex.EncodeToString(Raw(tx)), nil
				}
			}
			return nil, &rpcError{-5, "No such transaction found in the provided block. Use gettransaction for wallet transactions."}
		}
		return nil, &rpcError{-5, "No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries. " +
			"Use gettransaction for wallet transactions."}
	case "getmempoolinfo":
		least := float64(n.minimumRate()) / 1e8
		return map[string]any{
			"loaded": true, "size": len(n.pool), "mempoolminfee": least, "minrelaytxfee": least, "incrementalrelayfee": 0.00001,
		}, nil
	case "estimatesmartfee":
		return n.estimate(params)
	case "savemempool":
		return n.save()
	case "sendrawtransaction":
		return n.send(params)
	case "testmempoolaccept":
		return n.test(params)
	case "submitpackage":
		return n.submitPackage(params)
	}
	return nil, &rpcError{-32601, "Method not found"}
}

func (n *Node) estimate(params []json.RawMessage) (any, *rpcError) {
	var target int
	mode := "economical"
	argument(params, 1, &mode)
	if !argument(params, 0, &target) || target < 1 || target > 1008 {
		return nil, &rpcError{-8, "Invalid conf_target, must be between 1 and 1008"}
	}
	if !slices.Contains([]string{"unset", "economical", "conservative"}, mode) {
		return nil, &rpcError{-8, `Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"`}
	}
	rate, ok := n.rates[target]
	if !ok {
		return map[string]any{"errors": []string{"Insufficient data or no feerate found"}, "blocks": 0}, nil
	}
	return map[string]any{"feerate": json.Number(fmt.Sprintf("%.8f", rate)), "blocks": max(target, 2)}, nil
}

// parseTx reads a transaction in hex.
func parseTx(text string) (*wire.MsgTx, *rpcError) {
	raw, err := hex.DecodeString(text)
	tx := new(wire.MsgTx)
	in := bytes.NewReader(raw)
	if err != nil || tx.Deserialize(in) != nil || in.Len() > 0 {
		return nil, &rpcError{-22, "TX decode failed. Make sure the tx has at least one input."}
	}
	return tx, nil
}

func (n *Node) send(params []json.RawMessage) (any, *rpcError) {
	var text string
	if !argument(params, 0, &text) || len(params) > 3 {
		return nil, &rpcError{-1, "sendrawtransaction \"hexstring\" ( maxfeerate maxburnamount )"}
	}
	tx, e := parseTx(text)
	if e != nil {
		return nil, e
	}
	burned := 0.0
	argument(params, 2, &burned)
	for _, o := range tx.TxOut {
		if len(o.PkScript) > 0 && o.PkScript[0] == 0x6a && float64(o.Value) > burned*1e8 {
			return nil, &rpcError{-25, "Unspendable output exceeds maximum configured by user (maxburnamount)"}
		}
	}
	id := tx.TxHash()
	if n.pool[id] != nil {
		return id.String(), nil // it is sent to peers again
	}
	checked, _, r := n.check(tx, n.minimumRate(), nil)
	if r == nil && n.exceeds(checked, params) {
		r = &rejection{-25, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)", "max-fee-exceeded"}
	}
	if r == nil {
		r = n.accept(tx, n.minimumRate(), nil)
	}
	if r != nil {
		return nil, &rpcError{r.code, r.message}
	}
	return id.String(), nil
}

// exceeds reports whether the fee rate exceeds the second parameter, in BTC per 1,000 virtual bytes.
func (n *Node) exceeds(e *entry, params []json.RawMessage) bool {
	most := 0.1
	argument(params, 1, &most)
	return most > 0 && float64(e.fee) > most*1e8*float64(e.vsize)/1000
}

// list reads the transactions of the first parameter.
func list(params []json.RawMessage) (txs []*wire.MsgTx, _ *rpcError) {
	var texts []string
	if !argument(params, 0, &texts) || len(texts) == 0 || len(texts) > 25 {
		return nil, &rpcError{-8, "Array must contain between 1 and 25 transactions."}
	}
	for _, text := range texts {
		tx, e := parseTx(text)
		if e != nil {
			e.Message = "TX decode failed: " + text + " Make sure the tx has at least one input."
			return nil, e
		}
		txs = append(txs, tx)
	}
	return txs, nil
}

func (n *Node) test(params []json.RawMessage) (any, *rpcError) {
	txs, e := list(params)
	if e != nil {
		return nil, e
	}
	results := []map[string]any{}
	beside := map[wire.OutPoint]*wire.TxOut{}
	for _, tx := range txs {
		result := map[string]any{"txid": tx.TxHash().String(), "wtxid": tx.WitnessHash().String(), "allowed": false}
		checked, _, r := n.check(tx, n.minimumRate(), beside)
		switch {
		case r != nil && r.reason != "":
			result["reject-reason"] = r.reason
		case r != nil:
			result["reject-reason"] = r.message
		case n.exceeds(checked, params):
			result["reject-reason"] = "max-fee-exceeded"
		default:
			result["allowed"], result["vsize"] = true, checked.vsize
			result["fees"] = feesOf(checked, checked.fee, checked.vsize, []string{tx.WitnessHash().String()})
			for i, o := range tx.TxOut {
				beside[wire.OutPoint{Hash: checked.id, Index: uint32(i)}] = o
			}
		}
		results = append(results, result)
	}
	return results, nil
}

// feesOf are the fees of a transaction that was accepted together with the transactions ids, whose fees and sizes are given.
func feesOf(e *entry, fee, size int64, ids []string) map[string]any {
	return map[string]any{
		"base": float64(e.fee) / 1e8, "effective-feerate": float64(fee*1000/size) / 1e8, "effective-includes": ids,
	}
}

// submitPackage accepts a package if its fee rate as a whole is high enough.
func (n *Node) submitPackage(params []json.RawMessage) (any, *rpcError) {
	txs, e := list(params)
	if e != nil {
		return nil, e
	}
	fee, size := int64(0), int64(0)
	together, ids := false, []string{} // for their fee rate as a whole
	beside := map[wire.OutPoint]*wire.TxOut{}
	for _, tx := range txs {
		ids = append(ids, tx.WitnessHash().String())
		if checked, _, r := n.check(tx, 0, beside); r == nil {
			fee, size = fee+checked.fee, size+checked.vsize
			together = together || checked.fee*1000/checked.vsize < n.minimumRate()
		}
		for i, o := range tx.TxOut {
			beside[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}] = o
		}
	}
	rate := n.minimumRate()
	if size > 0 && fee*1000/size >= rate {
		rate = 0
	}
	message, results := "success", map[string]any{}
	for i, tx := range txs {
		result := map[string]any{"txid": tx.TxHash().String()}
		results[ids[i]] = result
		r := n.accept(tx, rate, nil)
		if accepted := n.pool[tx.TxHash()]; accepted != nil { // before or now
			result["vsize"] = accepted.vsize
			switch {
			case r != nil:
				result["fees"] = map[string]any{"base": float64(accepted.fee) / 1e8}
			case together:
				result["fees"] = feesOf(accepted, fee, size, ids)
			default:
				result["fees"] = feesOf(accepted, accepted.fee, accepted.vsize, ids[i:i+1])
			}
		} else {
			message, result["error"] = "transaction failed", r.message
		}
	}
	return map[string]any{"package_msg": message, "tx-results": results, "replaced-transactions": []string{}}, nil
}
