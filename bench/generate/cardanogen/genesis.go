package cardanogen

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/btcsuite/btcd/address/v2/base58"
	"golang.org/x/crypto/blake2b"
)

// Genesis is the genesis files of a chain without Byron blocks.
type Genesis struct {
	Byron, Shelley []byte // JSON

	Outputs int // number of initial outputs
}

const (
	supply         = 30_000_000_000_000_000 // lovelace
	genesisBlocks  = 300                    // as many outputs as this number of blocks spends
	mostGenesis    = 20_000
	start          = 1_700_000_000 // unix time of slot 0
	epochSlots     = 86_400
	securityParam  = 2160
	slotsInChunk   = 10 * securityParam
	activeFraction = 1.0 / slotsPerBlock
)

// endow makes the genesis outputs, each to its own address: the id of a genesis transaction is a hash of the address.
func (c *Chain) endow() {
	n := min(int(genesisBlocks*c.options.TxsPerBlock)+1, mostGenesis)
	funds, balances := map[string]uint64{}, map[string]string{}
	for c.unspent.Len() < n {
		address := c.births
		c.births++
		if isScript(kindOf(address)) { // several numbers can belong to one contract
			continue
		}
		raw := c.appendAddress(nil, address)
		value := uint64(supply / n)
		if kindOf(address) == byronKind {
			balances[base58.Encode(raw)] = strconv.FormatUint(value, 10)
		} else {
			funds[hex.EncodeToString(raw)] = value
		}
		c.put(coin{tx: blake2b.Sum256(raw), address: address, value: value})
	}
	c.genesis = Genesis{Outputs: n}
	c.genesis.Byron = document(map[string]any{
		"avvmDistr": map[string]string{}, "nonAvvmBalances": balances, "startTime": start,
		"protocolConsts": map[string]any{"k": securityParam, "protocolMagic": c.options.Magic},
	})
	c.genesis.Shelley = document(map[string]any{
		"initialFunds": funds, "systemStart": time.Unix(start, 0).UTC().Format(time.RFC3339), "networkMagic": c.options.Magic,
		"networkId": "Testnet", "epochLength": c.epochSlots(), "slotLength": 1, "securityParam": securityParam,
		"activeSlotsCoeff": activeFraction, "maxLovelaceSupply": uint64(45_000_000_000_000_000),
	})
}

// Genesis is the chain's genesis files.
func (c *Chain) Genesis() Genesis { return c.genesis }

// document returns indented JSON. Encoding cannot fail.
func document(v map[string]any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}
