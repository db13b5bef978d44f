//go:build interop

package cli

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

// Electrum creates a wallet, receives and sends, raises the fee of the payment, and follows a reorganization. After
// each step its history and balance match the chain and the mempool.
func TestInteropElectrumNewWallet(t *testing.T) {
	t.Parallel()
	n := newElectrumNode(t)
	w := startElectrum(t, n, "create", "--offline")
	mine := w.must("getunusedaddress")
	// is waits until the wallet has exactly these transactions, and this balance in satoshi.
	is := func(what string, confirmed, unconfirmed int64, want map[string]float64) {
		t.Helper()
		w.waitFor(what, func(h map[string]any) bool { return maps.Equal(heights(h), want) }, "onchain_history")
		w.waitFor(what+", balance", func(b map[string]any) bool {
			more, _ := b["unconfirmed"].(string)
			return b["confirmed"] == bitcoins(confirmed) && (more == bitcoins(unconfirmed) || more == "" && unconfirmed == 0)
		}, "getbalance")
	}
	is("the wallet is empty", 0, 0, map[string]float64{})

	// The wallet receives 10 bitcoins, unconfirmed and then confirmed.
	coinbase := n.chain.Blocks()[1].Transactions[0]
	fund := bitcointest.Spend(coinbase, 0, wire.NewTxOut(10e8, scriptOf(t, mine)), wire.NewTxOut(40e8-10_000, electrumScript()))
	signCoinbases(t, fund)
	received := w.broadcast(rawHex(fund))
	is("the payment to the wallet is unconfirmed", 0, 10e8, map[string]float64{received: 0})
	oldest := n.Generate(t, 1)[0]
	is("it is confirmed", 10e8, 0, map[string]float64{received: 111})
	if again := w.must("getunusedaddress"); again == mine {
		t.Errorf("the address %s received a payment, and is unused", mine)
	}

	// The wallet sends 3 of them. Change from its own confirmed coins counts as confirmed.
	raw := w.must("payto", "--feerate", "2", "--rbf", "true", "--addtransaction", otherAddress(t), "3")
	first := w.broadcast(raw)
	left := 7e8 - feeOf(t, raw, 10e8)
	is("the payment is unconfirmed", left, 0, map[string]float64{received: 111, first: 0})

	// Debian's Electrum has RBF disabled and rejects the command bumpfee. The test therefore creates the transaction
	// with the higher fee, and Electrum signs it.
	const more = 10_000
	signed := w.must("serialize", raised(t, w, raw, mine, 10e8, more))
	if feeOf(t, signed, 10e8) != feeOf(t, raw, 10e8)+more {
		t.Fatalf("the fee is %d, expected %d more than %d", feeOf(t, signed, 10e8), more, feeOf(t, raw, 10e8))
	}
	second := w.broadcast(signed)
	left -= more
	is("its replacement is unconfirmed", left, 0, map[string]float64{received: 111, second: 0})
	n.Generate(t, 1)
	is("it is confirmed", left, 0, map[string]float64{received: 111, second: 112})

	// The blocks of both transactions are replaced by blocks without them: both are unconfirmed again, and the second
	// one has an unconfirmed parent. (While the node has a shorter chain, the server waits for it.)
	n.Invalidate(t, oldest)
	n.mine(t, 3)
	w.waitFor("the wallet follows the reorganization", func(info map[string]any) bool {
		return info["blockchain_height"] == 113.
	}, "getinfo")
	is("both are unconfirmed", 0, left, map[string]float64{received: 0, second: -1})
	n.Generate(t, 1)
	is("both are confirmed on the new branch", left, 0, map[string]float64{received: 114, second: 114})
	var history []struct {
		Height int
		TxHash string `json:"tx_hash"`
	}
	text := w.must("getaddresshistory", mine)
	err := json.Unmarshal([]byte(text), &history)
	if err != nil || len(history) != 2 || history[0].TxHash != received || history[1].TxHash != second {
		t.Errorf("the server has the history %s, %v, expected %s and %s", text, err, received, second)
	}
}

// bitcoins formats an amount in satoshi as Electrum does.
func bitcoins(satoshi int64) string {
	text := strconv.FormatFloat(float64(satoshi)/1e8, 'f', 8, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func scriptOf(t *testing.T, text string) []byte {
	t.Helper()
	a, err := address.DecodeAddress(text, &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatal(err)
	}
	script, err := txscript.PayToAddrScript(a)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func parsedTx(t *testing.T, raw string) *wire.MsgTx {
	t.Helper()
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(hex.NewDecoder(strings.NewReader(raw))); err != nil {
		t.Fatal(err)
	}
	return tx
}

// feeOf returns the fee of a transaction whose inputs have a sum.
func feeOf(t *testing.T, raw string, inputs int64) int64 {
	t.Helper()
	for _, o := range parsedTx(t, raw).TxOut {
		inputs -= o.Value
	}
	return inputs
}

// raised returns a transaction for Electrum's command serialize, which signs it. It is raw, whose only input spends an
// output of an address, with a higher fee that its largest output pays.
func raised(t *testing.T, w *electrumWallet, raw, from string, value, more int64) string {
	t.Helper()
	tx := parsedTx(t, raw)
	if len(tx.TxIn) != 1 || len(tx.TxOut) != 2 {
		t.Fatalf("%d inputs and %d outputs, expected 1 and 2", len(tx.TxIn), len(tx.TxOut))
	}
	type object = map[string]any
	largest := tx.TxOut[0]
	if tx.TxOut[1].Value > largest.Value {
		largest = tx.TxOut[1]
	}
	largest.Value -= more
	in := tx.TxIn[0]
	var outputs []object
	for _, o := range tx.TxOut {
		_, all, _, err := txscript.ExtractPkScriptAddrs(o.PkScript, &chaincfg.RegressionNetParams)
		if err != nil || len(all) != 1 {
			t.Fatalf("an output without address: %v", err)
		}
		outputs = append(outputs, object{"address": all[0].EncodeAddress(), "value_sats": o.Value})
	}
	text, err := json.Marshal(object{
		"locktime": tx.LockTime, "outputs": outputs, "inputs": []object{{
			"prevout_hash": in.PreviousOutPoint.Hash.String(), "prevout_n": in.PreviousOutPoint.Index, "value_sats": value,
			"nsequence": in.Sequence, "privkey": w.must("getprivatekeys", from),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
