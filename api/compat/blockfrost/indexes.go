package blockfrost

import (
	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano"
	"birthmark/core/schema"
	"birthmark/model"
)

// Indexes are the indexes that the API needs, with the features that they must have.
var Indexes = []struct {
	Name  string
	Needs schema.Features
}{
	{utxo.AddressIndex, schema.AccountFeatures},
	{utxo.PaymentIndex, schema.AccountFeatures},
	{utxo.StakeIndex, schema.AccountFeatures},
	{utxo.PolicyIndex, 0},
	{utxo.DatumIndex, 0},
	{utxo.ScriptIndex, schema.FeatureUnspent},
}

// Indexes of transactions, which the preset blockfrost defines. The first output of a transaction has the values of the
// transaction, so that an output counts for each transaction. The API works without them.
var (
	Labels = model.Definition{
		Name: "metadata_label", Kind: model.ManyValued, When: "tx.valid && output.index == 0", Value: "tx.metadata_labels",
	}
	Subjects = utxo.Subjects
	Scripts  = model.Definition{
		Name: "script", Kind: model.ManyValued, When: "tx.valid && output.index == 0", Value: "tx.scripts",
	}
)

// optional returns an index of transactions, which must have features.
func (v *view) optional(of model.Definition, needs schema.Features) (*schema.Index, error) {
	x, err := v.Q.Index(of.Name)
	if err != nil && ifInternal(err) != nil {
		return nil, err
	}
	if err == nil {
		if d, _ := x.Definition(); d == of && x.Active.Has(needs) {
			return x, nil
		}
	}
	return nil, needsIndex(of.Name)
}

// poolIndex returns the index of the blocks of pools.
func (v *view) poolIndex() (*schema.Index, error) {
	if x := v.Q.PerBlock(cardano.PoolIndex); x != nil {
		return x, nil
	}
	return nil, needsIndex(cardano.PoolIndex)
}

func needsIndex(name string) error {
	return notImplemented("needs the index " + name + " of the preset blockfrost: set indexes: blockfrost in the " +
		"settings, and run birthmark index add " + name)
}
