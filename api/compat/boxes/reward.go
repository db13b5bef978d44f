package boxes

import (
	"bytes"

	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// reemission is the token that miners must pay back (EIP-27). Its amount reduces their reward.
var reemission, _ = ParseID("d9a2cc8a09abfaed87afacfbb7daee79a6b26f10c6613fc13d3f3953e5521d1a")

// Reward returns the amount that the miner of a block got from the emission, in nanoErg, without fees: the second
// output of the transaction that spends the emission box, less the amount that the miner has to give back. It is 0 if
// the first transaction of the block does not spend the emission box.
func (v *View) Reward(b *Block) (uint64, error) {
	pk, err := v.Q.NewTxPk(b.Height, 0)
	if err != nil {
		return 0, err
	}
	txs, err := v.Txs([]model.TxPk{pk})
	if err != nil {
		return 0, err
	}
	outputs := txs[0].Outputs
	if len(outputs) < 2 || len(txs[0].Inputs) == 0 {
		return 0, nil
	}
	spends, err := v.Q.SpendsOf(pk)
	if err != nil {
		return 0, err
	}
	spent, err := v.UnspentBoxes(spends[:1])
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(spent[0].Box().Tree, outputs[0].Tree) || outputs[0].Value+outputs[1].Value > spent[0].Box().Value {
		return 0, nil
	}
	reward := outputs[1].Value
	for _, t := range outputs[1].Tokens {
		if t.ID == reemission {
			reward -= min(reward, t.Amount)
		}
	}
	return reward, nil
}

// Miner returns the address of the key of the miner of a block.
func (v *View) Miner(b *Block) string {
	return v.Q.Active(AddressIndex).Format(ergo.StoredAddress(sigma.PublicKeyTree(b.Header.MinerKey)))
}
