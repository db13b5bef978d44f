package blockbook

import (
	"encoding/json"
	"time"
)

// paging is the position of a page. It is empty in answers without a list.
type paging struct {
	Page        int `json:"page,omitempty"` // from 1
	TotalPages  int `json:"totalPages,omitempty"`
	ItemsOnPage int `json:"itemsOnPage,omitempty"` // the size of a page
}

// Amounts are in satoshi.

type vin struct {
	TxID      string   `json:"txid,omitempty"`
	Vout      uint32   `json:"vout,omitempty"`
	Sequence  uint32   `json:"sequence,omitempty"`
	N         int      `json:"n"`
	Addresses []string `json:"addresses,omitempty"`
	IsAddress bool     `json:"isAddress"`
	IsOwn     bool     `json:"isOwn,omitempty"`
	Value     *uint64  `json:"value,string,omitempty"`
	Hex       string   `json:"hex,omitempty"` // the script
	Coinbase  string   `json:"coinbase,omitempty"`
}

type vout struct {
	Value       uint64   `json:"value,string"`
	N           int      `json:"n"`
	Spent       bool     `json:"spent,omitempty"` // by a confirmed transaction
	SpentTxID   string   `json:"spentTxId,omitempty"`
	SpentIndex  int      `json:"spentIndex,omitempty"`
	SpentHeight uint32   `json:"spentHeight,omitempty"`
	Hex         string   `json:"hex,omitempty"` // the script
	Addresses   []string `json:"addresses"`
	IsAddress   bool     `json:"isAddress"`
	IsOwn       bool     `json:"isOwn,omitempty"`
}

type tx struct {
	TxID          string `json:"txid"`
	Version       int32  `json:"version,omitempty"`
	LockTime      uint32 `json:"lockTime,omitempty"`
	Vin           []vin  `json:"vin"`
	Vout          []vout `json:"vout"`
	BlockHash     string `json:"blockHash,omitempty"`
	BlockHeight   int64  `json:"blockHeight"` // -1: unconfirmed
	Confirmations uint32 `json:"confirmations"`
	BlockTime     int64  `json:"blockTime"` // of an unconfirmed transaction: when it was first seen
	Size          int    `json:"size,omitempty"`
	VSize         int    `json:"vsize,omitempty"`
	Value         uint64 `json:"value,string"` // of the outputs
	ValueIn       uint64 `json:"valueIn,string"`
	Fees          uint64 `json:"fees,string"`
	Hex           string `json:"hex,omitempty"`
	RBF           bool   `json:"rbf,omitempty"` // unconfirmed, and signals that it can be replaced (BIP 125)
}

type accountInfo struct {
	paging
	Address              string   `json:"address"` // or the extended key or descriptor, as requested
	Balance              uint64   `json:"balance,string"`
	TotalReceived        uint64   `json:"totalReceived,string"`
	TotalSent            uint64   `json:"totalSent,string"`
	UnconfirmedBalance   int64    `json:"unconfirmedBalance,string"` // the change that unconfirmed transactions make
	UnconfirmedTxs       int      `json:"unconfirmedTxs"`
	UnconfirmedSending   *uint64  `json:"unconfirmedSending,string,omitempty"`
	UnconfirmedReceiving *uint64  `json:"unconfirmedReceiving,string,omitempty"`
	Txs                  uint64   `json:"txs"` // confirmed
	AddrTxCount          uint64   `json:"addrTxCount,omitempty"`
	Transactions         []*tx    `json:"transactions,omitempty"`
	TxIDs                []string `json:"txids,omitempty"`
	UsedTokens           int      `json:"usedTokens,omitempty"`
	Tokens               []token  `json:"tokens,omitempty"`
}

// token is an address of an extended key or descriptor.
type token struct {
	Type          string  `json:"type"`
	Standard      string  `json:"standard"`
	Name          string  `json:"name"` // the address
	Path          string  `json:"path"`
	Transfers     uint64  `json:"transfers"` // confirmed transactions
	Decimals      int     `json:"decimals"`
	Balance       *uint64 `json:"balance,string,omitempty"`
	TotalReceived *uint64 `json:"totalReceived,string,omitempty"`
	TotalSent     *uint64 `json:"totalSent,string,omitempty"`
}

type utxo struct {
	TxID          string `json:"txid"`
	Vout          uint32 `json:"vout"`
	Value         uint64 `json:"value,string"`
	Height        uint32 `json:"height,omitempty"`
	Confirmations uint32 `json:"confirmations"`
	Address       string `json:"address,omitempty"`
	Path          string `json:"path,omitempty"`
	LockTime      uint32 `json:"lockTime,omitempty"` // of an unconfirmed transaction
	Coinbase      bool   `json:"coinbase,omitempty"` // and not yet mature
}

type balanceChange struct {
	Time       int64  `json:"time"`
	Txs        int    `json:"txs"`
	Received   uint64 `json:"received,string"`
	Sent       uint64 `json:"sent,string"`
	SentToSelf uint64 `json:"sentToSelf,string"`
}

type blockInfo struct {
	paging
	Hash              string `json:"hash"`
	PreviousBlockHash string `json:"previousBlockHash,omitempty"`
	NextBlockHash     string `json:"nextBlockHash,omitempty"`
	Height            uint32 `json:"height"`
	Confirmations     uint32 `json:"confirmations"`
	Size              int    `json:"size"`
	Time              int64  `json:"time,omitempty"`
	Version           int32  `json:"version"`
	MerkleRoot        string `json:"merkleRoot"`
	Nonce             string `json:"nonce"`
	Bits              string `json:"bits"`
	Difficulty        string `json:"difficulty"`
	TxCount           int    `json:"txCount"`
	Txs               []*tx  `json:"txs,omitempty"`
}

type feeStats struct {
	TxCount         int       `json:"txCount"`
	TotalFees       uint64    `json:"totalFeesSat,string"`
	AverageFeePerKb int64     `json:"averageFeePerKb"`
	DecilesFeePerKb [11]int64 `json:"decilesFeePerKb"`
}

type indexValue struct {
	BlockHash string `json:"blockHash"`
}

type hexValue struct {
	Hex string `json:"hex"`
}

// errorValue is an error by REST.
type errorValue struct {
	Error string `json:"error"`
}

// messageValue is an answer or a notification by WebSocket.
type messageValue struct {
	ID   json.RawMessage `json:"id"`
	Data any             `json:"data"`
}

// failedValue is the data of an error by WebSocket.
type failedValue struct {
	Error messageText `json:"error"`
}

type messageText struct {
	Message string `json:"message"`
}

type result struct {
	Result string `json:"result"`
}

type systemInfo struct {
	Blockbook serverInfo  `json:"blockbook"`
	Backend   backendInfo `json:"backend"`
}

type serverInfo struct {
	Coin          string `json:"coin"`
	Network       string `json:"network"`
	Host          string `json:"host"`
	Version       string `json:"version"`
	GitCommit     string `json:"gitCommit"`
	BuildTime     string `json:"buildTime"` // of the commit
	SyncMode      bool   `json:"syncMode"`
	InitialSync   bool   `json:"initialSync"`
	InSync        bool   `json:"inSync"`
	BestHeight    uint32 `json:"bestHeight"`
	LastBlockTime string `json:"lastBlockTime"`
	InSyncMempool bool   `json:"inSyncMempool"`

	LastMempoolTime time.Time `json:"lastMempoolTime"` // when the node last answered about it
	MempoolSize     int       `json:"mempoolSize"`
	Decimals        int       `json:"decimals"`
	DBSize          int64     `json:"dbSize"` // bytes on disk
	About           string    `json:"about"`
}

// backendInfo is the chain, and what its node states about itself, if there is one.
type backendInfo struct {
	Error           string  `json:"error,omitempty"` // of the node
	Chain           string  `json:"chain,omitempty"`
	Blocks          uint32  `json:"blocks,omitempty"`
	Headers         int64   `json:"headers,omitempty"`
	BestBlockHash   string  `json:"bestBlockHash,omitempty"`
	Difficulty      string  `json:"difficulty,omitempty"`
	SizeOnDisk      int64   `json:"sizeOnDisk,omitempty"`
	Version         string  `json:"version,omitempty"`
	Subversion      string  `json:"subversion,omitempty"`
	ProtocolVersion string  `json:"protocolVersion,omitempty"`
	TimeOffset      float64 `json:"timeOffset,omitempty"`
	Warnings        string  `json:"warnings,omitempty"`
}

// chainInfo is the answer of the method getInfo.
type chainInfo struct {
	Name       string  `json:"name"`
	Shortcut   string  `json:"shortcut"`
	Network    string  `json:"network"`
	Decimals   int     `json:"decimals"`
	Version    string  `json:"version"`
	BestHeight uint32  `json:"bestHeight"`
	BestHash   string  `json:"bestHash"`
	Block0Hash string  `json:"block0Hash"`
	Testnet    bool    `json:"testnet"`
	Backend    backend `json:"backend"`
}

type backend struct {
	Version    string `json:"version,omitempty"`
	Subversion string `json:"subversion,omitempty"`
}

type feeAnswer struct {
	FeePerTx   string `json:"feePerTx,omitempty"`
	FeePerUnit string `json:"feePerUnit"`
}

const decimals = 8
