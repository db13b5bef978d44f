package genesis

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2/base58"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/adapter"
	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// Output is an output that exists before the first block: number 0 of a transaction whose id is the Blake2b-256 of the
// address, so an address has one at most.
type Output struct {
	Tx      model.Hash
	Address []byte
	Value   uint64 // lovelace, which may be 0
}

// Outputs returns the outputs at height 0, ordered by transaction id. For the errors see [Network.RequireFiles].
func (n *Network) Outputs() ([]Output, error) {
	if n.genesis != nil {
		return n.genesis, nil
	}
	if err := n.RequireFiles(); err != nil {
		return nil, err
	}
	return knownGenesis[n.Name]()
}

const redeemKeySize = 32 // of Ed25519

// genesisOutputs returns the outputs of genesis files, ordered by transaction id: Byron redeem keys in base64url
// (avvmDistr) and addresses in base 58 (nonAvvmBalances), Shelley addresses in hex (initialFunds).
func (n *Network) genesisOutputs(byron *byronGenesis, shelley *shelleyGenesis) ([]Output, error) {
	outputs := make([]Output, 0, len(byron.Avvm)+len(byron.Balances)+len(shelley.Funds))
	add := func(address []byte, value uint64) {
		outputs = append(outputs, Output{Tx: blake2b.Sum256(address), Address: address, Value: value})
	}
	for text, value := range byron.Avvm {
		key, err := redeemKey(text)
		if err != nil {
			return nil, badGenesis(byronGenesisFile+": avvmDistr of %q: %w", adapter.Truncate(text), err)
		}
		add(n.RedeemAddress(key), uint64(value))
	}
	for text, value := range byron.Balances {
		raw := base58.Decode(text)
		if _, err := address.ByronPayload(raw); err != nil {
			return nil, badGenesis(byronGenesisFile+": nonAvvmBalances of %q: %w", adapter.Truncate(text), err)
		}
		add(raw, uint64(value))
	}
	for text, value := range shelley.Funds {
		raw, err := hex.DecodeString(text)
		if err == nil && !address.IsShelley(raw) {
			if _, err = address.ByronPayload(raw); err != nil {
				err = fmt.Errorf("its %d bytes are not an address", len(raw))
			}
		}
		if err != nil {
			return nil, badGenesis(shelleyGenesisFile+": initialFunds of %q: %w", adapter.Truncate(text), err)
		}
		add(raw, uint64(value))
	}
	slices.SortFunc(outputs, func(a, b Output) int { return bytes.Compare(a.Tx[:], b.Tx[:]) })
	for i := 1; i < len(outputs); i++ {
		if outputs[i].Tx == outputs[i-1].Tx {
			return nil, badGenesis("genesis gives funds to %s twice", address.Format(n.Network, outputs[i].Address))
		}
	}
	return outputs, nil
}

// redeemKey reads a key in base64url, with or without padding.
func redeemKey(text string) ([]byte, error) {
	encoding := base64.URLEncoding
	if len(text)%4 != 0 {
		encoding = base64.RawURLEncoding
	}
	key, err := encoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("it is not base64url: %w", err)
	}
	if len(key) != redeemKeySize {
		return nil, fmt.Errorf("it has %d bytes, a key has %d", len(key), redeemKeySize)
	}
	return key, nil
}

func badGenesis(format string, args ...any) error {
	return model.Errorf(model.BadSource, "bad_genesis", format, args...)
}
