package ergo

import (
	"slices"
	"testing"

	"birthmark/model"
)

// minersFee is the address of the fee contract per network, as wallets and explorers use it.
var minersFee = map[string]string{
	"mainnet": "2iHkR7CWvD1R4j1yZg5bkeDRQavjAaVPeTDFGGLZduHyfWMuYpmhHocX8GJoaie" +
		"Tx78FntzJbCBVL6rf96ocJoZdmWBL2fci7NqWgAirppPQmZ7fN9V6z13Ay6brPriBKYqLp1bT2Fk4FkFLCfdPpe",
	"testnet": "Bf1X9JgQTUtgntaer91B24n6kP8L2kqEiQqNf1z97BKo9UbnW3WRP9VXu8BXd1L" +
		"sYCiYbHJEdWKxkF5YNx5n7m31wsDjbEuB3B13ZMDVBWkepGmWfGa71otpFViHDCuvbw1uNicAQnfuWfnj8fbCa4",
}

func TestAddressOfTheFeeContract(t *testing.T) {
	for _, n := range networks {
		if got := formatAddress(n, appendAddress(nil, feeTree, nil)); got != minersFee[n.name] {
			t.Errorf("%s: the fee contract has the address %s, expected %s", n.name, got, minersFee[n.name])
		}
	}
}

// The fee of a transaction is the sum of its outputs to the fee contract. The last transaction of a block spends
// exactly these outputs: the miner collects all fees.
func TestFeesOfRealBlocksEqualTheMinersIncome(t *testing.T) {
	address, err := parseAddress(networks[0], minersFee["mainnet"])
	if err != nil {
		t.Fatal(err)
	}
	paying, collected := 0, 0
	for _, file := range [][]string{
		{"ergo", "derived-node-json", "mainnet_1795968_1796063.ndjson.gz"},
		{"ergo", "derived-node-json", "mainnet_844665_844680.ndjson.gz"},
		{"ergo", "arkadianet-ergo", "mainnet", "scala_headerids", "blocks_700000_700004.json"},
	} {
		for _, b := range realBlocks(t, []string{indexBoxID, indexAddress}, file...) {
			fees := map[string]uint64{} // box id to value
			sum := uint64(0)
			for i := range b.Txs {
				tx := &b.Txs[i]
				paid := uint64(0)
				for _, o := range tx.Outputs {
					if string(o.Keys[1].Value) == string(address) {
						paid += o.Value
						fees[string(o.Keys[0].Value)] = o.Value
					}
				}
				if want := (model.Fee{Stated: true, Amount: paid}); tx.Fee != want {
					t.Errorf("block %d, transaction %s: fee %+v, expected %+v", b.Height, tx.Hash, tx.Fee, want)
				}
				if sum += tx.Fee.Amount; paid > 0 {
					paying++
				}
			}
			last := &b.Txs[len(b.Txs)-1]
			other := func(in model.Input) bool { return fees[string(in.Value)] == 0 }
			if len(fees) == 0 || slices.ContainsFunc(last.Inputs, other) {
				continue // no fees, or the miner also spends other boxes
			}
			made := uint64(0)
			for _, o := range last.Outputs {
				made += o.Value
			}
			if made != sum {
				t.Errorf("block %d: its transactions pay %d, its miner collects %d", b.Height, sum, made)
			}
			collected++
		}
	}
	if paying < 400 || collected < 90 {
		t.Errorf("only %d transactions paid a fee, which was collected in %d of 117 blocks", paying, collected)
	}
}
