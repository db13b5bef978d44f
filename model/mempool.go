package model

import (
	"context"
	"iter"
	"time"
)

// Mempool is a [Source] that provides the unconfirmed transactions of its node. It is safe for concurrent use.
type Mempool interface {
	// MempoolIDs returns the ids of the node's unconfirmed transactions, and the sequence number of the last change
	// that they include; 0: the node does not number changes.
	MempoolIDs(ctx context.Context) (ids []Hash, sequence uint64, err error)

	// MempoolTxs returns the transactions of ids with the values of the source's indexes and [Tx.Raw]; nil for one that
	// the node no longer has.
	MempoolTxs(ctx context.Context, ids []Hash) ([]*Unconfirmed, error)

	// MempoolEvents yields the changes of the node's mempool from now on. It ends when the connection breaks or after
	// an error; the caller then lists again. It returns nil if the node has no events.
	MempoolEvents(ctx context.Context) (iter.Seq2[MempoolEvent, error], error)
}

// Unconfirmed is a transaction of a mempool.
type Unconfirmed struct {
	Tx
	Size   int       // bytes of the serialized transaction
	VSize  int       // the size that fee rates refer to
	Weight int       // 0 on chains without weight
	Seen   time.Time // when the node received it; zero: unknown
}

// MempoolEvent is a change of a node's mempool.
type MempoolEvent struct {
	Kind     MempoolEventKind
	ID       Hash         // of the transaction or block
	Tx       *Unconfirmed // of TxAdded, if the node sends it; else nil
	Sequence uint64       // 0: the node does not number changes
}

type MempoolEventKind uint8

const (
	TxAdded MempoolEventKind = iota
	TxRemoved
	BlockConnected
	BlockDisconnected
)

// NodeError is an error that a node returned for a call, with its own code. It is in the chain of the errors of
// [Submitter], whose text is its message.
type NodeError struct {
	Code    int
	Message string
}

func (e *NodeError) Error() string { return e.Message }

// Submitter is a [Source] that submits transactions to its node. Errors that are refusals of the node are of kind
// [Usage], code rejected; their text is the node's message without additions, and they wrap a [NodeError].
type Submitter interface {
	// Submit sends a serialized transaction and returns its id.
	Submit(ctx context.Context, raw []byte, o SubmitOptions) (Hash, error)

	// TestAccept returns for each serialized transaction whether the node's mempool would accept it, in the format of
	// the node (Bitcoin: testmempoolaccept). Its errors are of kind [NotFound], code unsupported, if the node cannot.
	TestAccept(ctx context.Context, raws [][]byte, o SubmitOptions) (json []byte, err error)

	// SubmitPackage sends dependent transactions, parents first, and returns the answer in the format of the node
	// (Bitcoin: submitpackage). Its errors are of kind [NotFound], code unsupported, if the node cannot.
	SubmitPackage(ctx context.Context, raws [][]byte, o SubmitOptions) (json []byte, err error)
}

// TxSerializer is a chain whose clients sign transactions in JSON.
type TxSerializer interface {
	// SerializeTx returns the bytes that [Submitter.Submit] takes. Its errors are of kind [Usage].
	SerializeTx(json []byte) ([]byte, error)
}

// SubmitOptions are limits of the node; empty: its defaults. They are decimal numbers in the unit of the node.
type SubmitOptions struct {
	MaxFeeRate    string // Bitcoin: BTC per 1,000 virtual bytes
	MaxBurnAmount string // Bitcoin: BTC
}

// FeeEstimator is a [Source] that estimates fees.
type FeeEstimator interface {
	// EstimateFees returns the fee rates with which a transaction is expected to confirm within each number of blocks,
	// in smallest units per 1,000 virtual bytes; a target without an estimate is absent. mode is the node's estimation
	// mode; empty: its default.
	EstimateFees(ctx context.Context, targets []int, mode string) (map[int]float64, error)

	// MinimumFees returns the limits of the node's mempool, in smallest units per 1,000 virtual bytes.
	MinimumFees(ctx context.Context) (MinimumFees, error)
}

// NodeDescriber is a [Source] of a node that describes itself.
type NodeDescriber interface {
	// NodeInfo returns the version and the state of the node. The answer is at most a minute old.
	NodeInfo(ctx context.Context) (*NodeInfo, error)
}

// NodeInfo describes a node. Members that the node does not state are empty.
type NodeInfo struct {
	Headers    int64 // that it has
	SizeOnDisk int64 // bytes of its blocks
	Version    string
	Subversion string // user agent
	Protocol   string // version
	TimeOffset float64
	Warnings   []string
}

// MinimumFees are fee rates below which a node does not accept or relay, in smallest units per 1,000 virtual bytes.
type MinimumFees struct {
	Mempool, Relay, Increment float64
}
