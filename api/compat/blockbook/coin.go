package blockbook

import (
	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/model"
)

// coin is a network as Blockbook names it.
type coin struct {
	name, shortcut string
	chain          string // its name in Bitcoin Core
	params         *chaincfg.Params
}

var coins = map[string]coin{
	"mainnet":  {"Bitcoin", "BTC", "main", &chaincfg.MainNetParams},
	"testnet3": {"Testnet", "TEST", "test", &chaincfg.TestNet3Params},
	"testnet4": {"Testnet4", "TEST", "testnet4", &chaincfg.TestNet4Params},
	"signet":   {"Signet", "sBTC", "signet", &chaincfg.SigNetParams},
	"regtest":  {"Regtest", "rBTC", "regtest", &chaincfg.RegressionNetParams},
	"simnet":   {"Simnet", "SIM", "simnet", &chaincfg.SimNetParams},
}

// coinOf returns the coin of a network; the error is of kind [model.Refused].
func coinOf(network string) (coin, error) {
	c, ok := coins[network]
	if !ok {
		return c, model.Errorf(model.Refused, "unsupported",
			"the API of Blockbook has no network %s: remove serve.blockbook", network)
	}
	return c, nil
}
