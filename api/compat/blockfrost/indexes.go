package blockfrost

import (
	"birthmark/api/compat/utxo"
	"birthmark/api/served"
	"birthmark/chains/cardano"
	"birthmark/core/schema"
	"birthmark/model"
)

// Needs lists the indexes and abilities of nodes that the endpoints read.
var Needs = served.Needs{
	Chain: "cardano", Preset: "blockfrost", Node: "unix:///path/to/node.socket",
	Parts: []served.Need{
		{Index: utxo.AddressIndex, Options: schema.AccountFeatures},
		{Index: utxo.PaymentIndex, Options: schema.AccountFeatures},
		{Index: utxo.StakeIndex, Options: schema.AccountFeatures},
		{Index: utxo.PolicyIndex}, {Index: utxo.DatumIndex}, {Index: utxo.ScriptIndex, Options: schema.FeatureUnspent},
		served.Custom(&Labels, schema.FeatureBalance, "transactions by metadata label"),
		served.Custom(&Subjects, 0, "certificates, withdrawals, votes, proposals, pools and redeemers"),
		served.Custom(&Scripts, 0, "lists of scripts"),
		{Index: cardano.PoolIndex, Without: "blocks of pools"},
		{Raw: true},
		{Node: served.Can[ledgerNode], Without: "protocol parameters, accounts, stakes and DReps"},
		{Node: served.Can[model.Submitter], Without: "submitting transactions"},
		{Mempool: true, Without: "unconfirmed transactions"},
	},
}

// Indexes of transactions, which the preset blockfrost defines. The first output of a transaction has the values of the
// transaction, so that an output counts for each transaction. The API works without them.
var (
	Labels = model.Definition{
		Name: "metadata_label", Kind: model.ManyValued, When: "tx.valid && output.index == 0", Value: "tx.metadata_labels",
	}
	Subjects = utxo.Subjects
	Scripts  = utxo.Scripts
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
