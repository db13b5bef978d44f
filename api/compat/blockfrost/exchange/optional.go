package exchange

import (
	"birthmark/api/compat/utxo"
	"birthmark/core/schema"
	"birthmark/model"
)

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

// Optional returns an index of transactions, which must have features.
func (q *Request) Optional(of model.Definition, needs schema.Features) (*schema.Index, error) {
	x, err := q.Q.Index(of.Name)
	if err != nil && UnlessInternalNil(err) != nil {
		return nil, err
	}
	if err == nil {
		if d, _ := x.Definition(); d == of && x.Active.Has(needs) {
			return x, nil
		}
	}
	return nil, needsIndex(of.Name)
}

func needsIndex(name string) error {
	return NotImplemented("needs the index " + name + " of the preset blockfrost: set indexes: blockfrost in the " +
		"settings, and run birthmark index add " + name)
}
