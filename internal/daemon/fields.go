package daemon

import (
	"birthmark/api"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// fielded is a chain whose fields expressions can name.
type fielded interface {
	Fields() []indexexpr.Field
}

// Fields returns the fields that expressions over the named chains can use.
func (h *Host) Fields(names ...string) (*api.FieldsAnswer, error) {
	a := &api.FieldsAnswer{}
	for _, name := range names {
		chain, err := h.NewChain(name, "")
		if err != nil {
			return nil, At("--chain", err)
		}
		of, ok := chain.(fielded)
		if !ok {
			return nil, model.Errorf(model.NotFound, "not_offered", "%s has no fields for expressions", name)
		}
		listed := api.ChainFields{Chain: name}
		for _, f := range of.Fields() {
			listed.Fields = append(listed.Fields, api.ExpressionField(f))
		}
		a.Chains = append(a.Chains, listed)
	}
	for _, f := range indexexpr.Functions() {
		a.Functions = append(a.Functions, api.ExpressionFunction(f))
	}
	return a, nil
}
