package blockbook

// Answers of version 1 of the API, which Blockbook also has below /api without a version. Amounts are in BTC.

type vinV1 struct {
	TxID      string   `json:"txid"`
	Vout      uint32   `json:"vout"`
	Sequence  uint32   `json:"sequence,omitempty"`
	N         int      `json:"n"`
	ScriptSig scriptV1 `json:"scriptSig"`
	Addresses []string `json:"addresses"`
	Value     string   `json:"value"`
}

type scriptV1 struct {
	Hex string `json:"hex,omitempty"`
}

type voutV1 struct {
	Value  string `json:"value"`
	N      int    `json:"n"`
	Script struct {
		Hex       string   `json:"hex,omitempty"`
		Addresses []string `json:"addresses"`
	} `json:"scriptPubKey"`
	Spent       bool   `json:"spent"`
	SpentTxID   string `json:"spentTxId,omitempty"`
	SpentIndex  int    `json:"spentIndex,omitempty"`
	SpentHeight uint32 `json:"spentHeight,omitempty"`
}

type txV1 struct {
	TxID          string   `json:"txid"`
	Version       int32    `json:"version,omitempty"`
	LockTime      uint32   `json:"locktime,omitempty"`
	Vin           []vinV1  `json:"vin"`
	Vout          []voutV1 `json:"vout"`
	BlockHash     string   `json:"blockhash,omitempty"`
	BlockHeight   int64    `json:"blockheight"`
	Confirmations uint32   `json:"confirmations"`
	Time          int64    `json:"time,omitempty"`
	BlockTime     int64    `json:"blocktime"`
	ValueOut      string   `json:"valueOut"`
	Size          int      `json:"size,omitempty"`
	ValueIn       string   `json:"valueIn"`
	Fees          string   `json:"fees"`
	Hex           string   `json:"hex"`
}

type accountV1 struct {
	paging
	Address            string   `json:"addrStr"`
	Balance            string   `json:"balance"`
	TotalReceived      string   `json:"totalReceived"`
	TotalSent          string   `json:"totalSent"`
	UnconfirmedBalance string   `json:"unconfirmedBalance"`
	UnconfirmedTxs     int      `json:"unconfirmedTxApperances"`
	Txs                uint64   `json:"txApperances"`
	Transactions       []*txV1  `json:"txs,omitempty"`
	TxIDs              []string `json:"transactions,omitempty"`
}

type utxoV1 struct {
	TxID          string `json:"txid"`
	Vout          uint32 `json:"vout"`
	Amount        string `json:"amount"`
	Satoshis      uint64 `json:"satoshis"`
	Height        uint32 `json:"height,omitempty"`
	Confirmations uint32 `json:"confirmations"`
}

type blockV1 struct {
	blockInfo         // without its transactions
	Txs       []*txV1 `json:"txs,omitempty"`
}

// version1 returns an answer in the form of version 1; most answers are the same.
func version1(a any) any {
	switch a := a.(type) {
	case *tx:
		return txToV1(a)
	case *accountInfo:
		return &accountV1{
			paging: a.paging, Address: a.Address, Balance: formatBTC(a.Balance), TotalReceived: formatBTC(a.TotalReceived),
			TotalSent: formatBTC(a.TotalSent), UnconfirmedBalance: formatChange(a.UnconfirmedBalance),
			UnconfirmedTxs: a.UnconfirmedTxs, Txs: a.Txs, Transactions: txsToV1(a.Transactions), TxIDs: a.TxIDs,
		}
	case []utxo:
		list := make([]utxoV1, len(a))
		for i, u := range a {
			list[i] = utxoV1{u.TxID, u.Vout, formatBTC(u.Value), u.Value, u.Height, u.Confirmations}
		}
		return list
	case *blockInfo:
		v1 := &blockV1{*a, txsToV1(a.Txs)}
		v1.blockInfo.Txs = nil
		return v1
	}
	return a
}

// formatChange formats a signed amount in satoshi in BTC.
func formatChange(satoshi int64) string {
	if satoshi < 0 {
		return "-" + formatBTC(uint64(-satoshi))
	}
	return formatBTC(uint64(satoshi))
}

func txsToV1(list []*tx) []*txV1 {
	v1 := make([]*txV1, len(list))
	for i, t := range list {
		v1[i] = txToV1(t)
	}
	return v1
}

func txToV1(t *tx) *txV1 {
	a := &txV1{
		TxID: t.TxID, Version: t.Version, LockTime: t.LockTime, Vin: make([]vinV1, len(t.Vin)), Vout: make([]voutV1, len(t.Vout)),
		BlockHash: t.BlockHash, BlockHeight: t.BlockHeight, Confirmations: t.Confirmations, Time: t.BlockTime, BlockTime: t.BlockTime,
		ValueOut: formatBTC(t.Value), Size: t.Size, ValueIn: formatBTC(t.ValueIn), Fees: formatBTC(t.Fees), Hex: t.Hex,
	}
	for i, in := range t.Vin {
		a.Vin[i] = vinV1{
			TxID: in.TxID, Vout: in.Vout, Sequence: in.Sequence, N: in.N, ScriptSig: scriptV1{in.Hex}, Addresses: in.Addresses,
			Value: "0",
		}
		if in.Value != nil {
			a.Vin[i].Value = formatBTC(*in.Value)
		}
	}
	for i, out := range t.Vout {
		o := &a.Vout[i]
		o.Value, o.N, o.Spent = formatBTC(out.Value), out.N, out.Spent
		o.SpentTxID, o.SpentIndex, o.SpentHeight = out.SpentTxID, out.SpentIndex, out.SpentHeight
		o.Script.Hex, o.Script.Addresses = out.Hex, out.Addresses
	}
	return a
}
