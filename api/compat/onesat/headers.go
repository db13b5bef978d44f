package onesat

import (
	"encoding/hex"
	"strconv"
	"time"

	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
)

// headerValue is a header of a block.
type headerValue struct {
	Height     uint32 `json:"height"`
	Hash       string `json:"hash"`
	Version    int32  `json:"version"`
	PrevHash   string `json:"prevHash"`
	MerkleRoot string `json:"merkleRoot"`
	Time       uint32 `json:"time"`
	Bits       uint32 `json:"bits"`
	Nonce      uint32 `json:"nonce"`
}

func valueOf(b *wallet.Block) *headerValue {
	h := block.Header(b.Header)
	return &headerValue{
		Height: uint32(b.Height), Hash: block.FormatHash(b.Hash), Version: h.Version(), PrevHash: block.FormatHash(h.Parent()),
		MerkleRoot: block.FormatHash(h.MerkleRoot()), Time: uint32(b.Time), Bits: h.Bits(), Nonce: h.Nonce(),
	}
}

// headerAt returns the header at a height; NotFound above the tip.
func (v *view) headerAt(height uint32) (*headerValue, error) {
	if v.Tip.IsOrigin() || height > uint32(v.Tip.Height) {
		return nil, missing("Header not found")
	}
	b, err := v.Block(height)
	if err != nil {
		return nil, err
	}
	return valueOf(b), nil
}

func tipHeader(*request) answer {
	return func(v *view) (any, error) { return v.headerAt(uint32(v.Tip.Height)) }
}

func headerAt(r *request) answer {
	height, err := strconv.ParseUint(arg(r, "height"), 10, 32)
	if err != nil {
		r.Refuse(badRequest("Invalid height"))
	}
	return func(v *view) (any, error) { return v.headerAt(uint32(height)) }
}

func headerOf(r *request) answer {
	hash, ok := block.ParseHash(arg(r, "hash"))
	if !ok {
		r.Refuse(badRequest("Invalid hash"))
	}
	return func(v *view) (any, error) {
		b, err := v.BlockByHash(hash)
		if is(err, "unknown_block") {
			return nil, missing("Header not found")
		}
		if err != nil {
			return nil, err
		}
		return valueOf(b), nil
	}
}

// maxHeaders is the number of headers of a request.
const maxHeaders = 10_000

func rawHeaders(r *request) answer {
	number := func(name string) uint32 {
		n, err := strconv.ParseUint(r.Param(name), 10, 32)
		if err != nil {
			r.Refuse(badRequest("Invalid %s parameter", name))
		}
		return uint32(n)
	}
	from, n := number("height"), number("count")
	if n > maxHeaders {
		r.Refuse(badRequest("Invalid count parameter: at most %d", maxHeaders))
	}
	return func(v *view) (any, error) {
		headers, err := v.Headers(from, int(n))
		if is(err, "unknown_block") || err == nil && len(headers) == 0 {
			return nil, missing("Header not found")
		}
		return exchange.Bytes(headers), err
	}
}

// network returns main or test.
func (p *protocol) network(*request) (any, error) {
	name := "test"
	if p.Network() == "mainnet" {
		name = "main"
	}
	return map[string]string{"network": name}, nil
}

// statusValue is the status of a transaction.
type statusValue struct {
	TxID        string `json:"txid"`
	Status      string `json:"txStatus"`
	Timestamp   string `json:"timestamp"`
	BlockHash   string `json:"blockHash,omitempty"`
	BlockHeight uint32 `json:"blockHeight,omitempty"`
	MerklePath  string `json:"merklePath,omitempty"`
}

func txStatus(r *request) answer {
	id := txidArg(r)
	return func(v *view) (any, error) {
		tx, err := v.Tx(id)
		if is(err, "unknown_tx") {
			return nil, missing("transaction not found")
		}
		if err != nil {
			return nil, err
		}
		a := &statusValue{TxID: block.FormatHash(id), Status: "SEEN_ON_NETWORK", Timestamp: tx.Seen.UTC().Format(time.RFC3339)}
		if !tx.Place.Confirmed {
			return a, nil
		}
		path, err := v.merklePath(id, tx.Place)
		if err != nil {
			return nil, err
		}
		a.Status, a.BlockHash, a.BlockHeight = "MINED", block.FormatHash(tx.Place.BlockHash), tx.Place.Height
		a.Timestamp, a.MerklePath = time.Unix(tx.Place.BlockTime, 0).UTC().Format(time.RFC3339), hex.EncodeToString(path)
		return a, nil
	}
}

// policyValue are the limits of transactions of the node.
type policyValue struct {
	MaxScript int64    `json:"maxscriptsizepolicy"`
	MaxSigOps int64    `json:"maxtxsigopscountspolicy"`
	MaxTx     int64    `json:"maxtxsizepolicy"`
	Fee       feeValue `json:"miningFee"`
}

type feeValue struct {
	Satoshis float64 `json:"satoshis"`
	Bytes    int     `json:"bytes"`
}

// policy returns the fee of the node, and the limits of its default settings.
func (p *protocol) policy(r *request) (any, error) {
	const feeBytes = 1000
	limits, err := p.MinimumFees(r.Context())
	if err != nil {
		return nil, err
	}
	return &policyValue{
		MaxScript: 100_000_000, MaxSigOps: 1<<32 - 1, MaxTx: 100_000_000, Fee: feeValue{float64(limits.Relay), feeBytes},
	}, nil
}
