package api

import (
	"bytes"

	"birthmark/core/query"
	"birthmark/core/query/search"
	"birthmark/core/schema"
	"birthmark/model"
)

// ChainsAnswer lists the chains of a server.
type ChainsAnswer struct {
	Version string        `json:"version,omitempty"` // of the server
	Chains  []ServedChain `json:"chains"`
}

// ServedChain is a chain of a server.
type ServedChain struct {
	Name    string             `json:"name"` // in paths
	Chain   string             `json:"chain"`
	Network string             `json:"network"`
	Tip     *query.PointAnswer `json:"tip"` // null before the first block
}

// ChainAnswer is a chain with its operations.
type ChainAnswer struct {
	Name          string             `json:"name"` // in paths
	Chain         string             `json:"chain"`
	Network       string             `json:"network"`
	Tip           *query.PointAnswer `json:"tip"`           // null before the first block
	Documentation string             `json:"documentation"` // path
	Operations    []OperationAnswer  `json:"operations"`
}

// OperationAnswer is a request that a chain answers.
type OperationAnswer struct {
	Method  string `json:"method"`
	Path    string `json:"path"` // with {names} of its values
	Summary string `json:"summary"`
}

// SearchAnswer is what a text names in each chain that has results.
type SearchAnswer struct {
	Query  string        `json:"query"`
	Chains []ChainSearch `json:"chains"`
}

// ChainSearch is the results of a search in one chain.
type ChainSearch struct {
	Name    string          `json:"name"` // of the chain in paths
	Results []search.Result `json:"results"`
	Partial bool            `json:"partial,omitempty"` // there can be more
}

// IndexesAnswer lists the indexes of a database.
type IndexesAnswer struct {
	Chain   string             `json:"chain"`
	Network string             `json:"network"`
	Indexes []query.IndexState `json:"indexes"`
}

// SchemaAnswer describes the layout of a database: its column families as Markdown, and the indexes of a chain.
type SchemaAnswer struct {
	Format  int           `json:"format"`
	Text    string        `json:"text"`
	Indexes []SchemaIndex `json:"indexes,omitempty"`
}

// SchemaIndex is an index that a chain supports.
type SchemaIndex struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Default bool   `json:"default"`
	Doc     string `json:"doc"`
}

// SchemaOf returns the schema, with the indexes of chain unless that is nil.
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

// FieldsAnswer lists the fields and functions that expressions of custom indexes can use.
type FieldsAnswer struct {
	Chains    []ChainFields        `json:"chains"`
	Functions []ExpressionFunction `json:"functions"`
}

// ChainFields are the fields of one chain.
type ChainFields struct {
	Chain  string            `json:"chain"`
	Fields []ExpressionField `json:"fields"`
}

// ExpressionField is a field that expressions can use.
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

// Bodies and answers of batches. Answers are in the order of the request, with null for an unknown output or transaction.

// OutputRefs are references to outputs.
type OutputRefs struct {
	Outputs []string `json:"outputs"`
}

// TxHashes are hashes of transactions.
type TxHashes struct {
	Txs []string `json:"txs"`
}

// IndexValues are values of an index.
type IndexValues struct {
	Index  string   `json:"index"`
	Values []string `json:"values"`
}

// OutputsAnswer has outputs.
type OutputsAnswer struct {
	Outputs []*query.OutputAnswer `json:"outputs"`
}

// SpendsAnswer has the spenders of outputs.
type SpendsAnswer struct {
	Spends []*query.SpendingAnswer `json:"spends"`
}

// TxsAnswer has transactions.
type TxsAnswer struct {
	Txs []*query.TxAnswer `json:"txs"`
}

// BalancesAnswer has balances of values of one index.
type BalancesAnswer struct {
	Index    string                `json:"index"`
	Balances []query.BalanceAnswer `json:"balances"`
}
