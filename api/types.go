package api

import (
	"bytes"

	"birthmark/core"
	"birthmark/core/schema"
	"birthmark/model"
)

// ChainsAnswer is the chains that a server has.
type ChainsAnswer struct {
	Version string        `json:"version,omitempty"` // of the server
	Chains  []ServedChain `json:"chains"`
}

// ServedChain is a chain that a server has.
type ServedChain struct {
	Name    string            `json:"name"` // in paths
	Chain   string            `json:"chain"`
	Network string            `json:"network"`
	Tip     *core.PointAnswer `json:"tip"` // null before the first block
}

// IndexesAnswer is the indexes of a database.
type IndexesAnswer struct {
	Chain   string            `json:"chain"`
	Network string            `json:"network"`
	Indexes []core.IndexState `json:"indexes"`
}

// SchemaAnswer is what a database is made of: its families as Markdown, and the indexes that a chain offers.
type SchemaAnswer struct {
	Format  int           `json:"format"`
	Text    string        `json:"text"`
	Indexes []SchemaIndex `json:"indexes,omitempty"`
}

// SchemaIndex is an index that a chain offers.
type SchemaIndex struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Default bool   `json:"default"`
	Doc     string `json:"doc"`
}

// SchemaOf is the schema, with the indexes of a chain where it is not nil.
func SchemaOf(chain model.Chain) (*SchemaAnswer, error) {
	var text bytes.Buffer
	if err := schema.WriteMarkdown(&text); err != nil {
		return nil, err
	}
	a := &SchemaAnswer{Format: schema.FormatVersion, Text: text.String()}
	if chain == nil {
		return a, nil
	}
	for _, x := range chain.Indexes() {
		a.Indexes = append(a.Indexes, SchemaIndex{x.Name, x.Kind.String(), x.Default || x.Always, x.Doc})
	}
	return a, nil
}

// FieldsAnswer is what expressions of one's own indexes can name.
type FieldsAnswer struct {
	Chains    []ChainFields        `json:"chains"`
	Functions []ExpressionFunction `json:"functions"`
}

// ChainFields are the fields of one chain.
type ChainFields struct {
	Chain  string            `json:"chain"`
	Fields []ExpressionField `json:"fields"`
}

// ExpressionField is a field that expressions can name.
type ExpressionField struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Doc     string `json:"doc"`
	Example string `json:"example,omitempty"`
}

// ExpressionFunction is a function that expressions can call.
type ExpressionFunction struct {
	Call string `json:"call"`
	Type string `json:"type"`
	Doc  string `json:"doc"`
}

// The bodies of what is asked for at once, and the answers: in the order of what was asked, null for an output or a
// transaction that there is not.

// OutputRefs names outputs.
type OutputRefs struct {
	Outputs []string `json:"outputs"`
}

// TxHashes names transactions.
type TxHashes struct {
	Txs []string `json:"txs"`
}

// IndexValues names values of an index.
type IndexValues struct {
	Index  string   `json:"index"`
	Values []string `json:"values"`
}

// OutputsAnswer is outputs.
type OutputsAnswer struct {
	Outputs []*core.OutputAnswer `json:"outputs"`
}

// SpendsAnswer is what spends outputs.
type SpendsAnswer struct {
	Spends []*core.SpendingAnswer `json:"spends"`
}

// TxsAnswer is transactions.
type TxsAnswer struct {
	Txs []*core.TxAnswer `json:"txs"`
}

// BalancesAnswer is the totals of values of one index.
type BalancesAnswer struct {
	Index    string               `json:"index"`
	Balances []core.BalanceAnswer `json:"balances"`
}
