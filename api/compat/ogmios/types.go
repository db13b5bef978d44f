package ogmios

import "encoding/json"

const rpcVersion = "2.0"

// request is a request of JSON-RPC.
type request struct {
	Version string          `json:"jsonrpc"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	ID      json.RawMessage `json:"id"` // any value; absent: the response has none either
}

// response is a response of JSON-RPC with the method, as Ogmios has it.
type response struct {
	Version string          `json:"jsonrpc"`
	Method  string          `json:"method,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
}

// named is a pool or a transaction.
type named struct {
	ID string `json:"id"`
}

// ada is an amount.
type ada struct {
	Ada struct {
		Lovelace uint64 `json:"lovelace"`
	} `json:"ada"`
}

func lovelace(n uint64) (a ada) {
	a.Ada.Lovelace = n
	return a
}

type size struct {
	Bytes uint64 `json:"bytes"`
}

// origin is the point before the first block.
const origin = "origin"

// point is a block of the chain.
type point struct {
	Slot uint64 `json:"slot"`
	ID   string `json:"id"`
}

// account is the state of a registered reward account. The pool has its names of Ogmios 6.0 and 6.12.
type account struct {
	Delegate *named `json:"delegate,omitempty"`
	Pool     *named `json:"stakePool,omitempty"`
	DRep     *drep  `json:"delegateRepresentative,omitempty"`
	Rewards  ada    `json:"rewards"`
	Deposit  ada    `json:"deposit"`
}

type drep struct {
	Type string `json:"type"`           // registered, noConfidence, abstain
	ID   string `json:"id,omitempty"`   // of a registered one, in hex
	From string `json:"from,omitempty"` // the kind of its credential: verificationKey, script
}

// Answers of the methods of the mempool. Its transactions are in types_transaction.go.
type (
	acquiredValue struct {
		Acquired string `json:"acquired"`
		Slot     uint64 `json:"slot"`
	}
	releasedValue struct {
		Released string `json:"released"`
	}
	sizeValue struct {
		Capacity     size `json:"maxCapacity"`
		Size         size `json:"currentSize"`
		Transactions struct {
			Count int `json:"count"`
		} `json:"transactions"`
	}

	// txValue is a transaction that was submitted, or the next one of the mempool, which can be null.
	txValue struct {
		Transaction any `json:"transaction"` // a [transaction], or [named]
	}
)
