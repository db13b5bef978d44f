package api

import (
	"context"

	"birthmark/api/docs"
	"birthmark/core/query"
)

func outputOperations() []*operation {
	return []*operation{
		get("output", "/output/{output}", "chain", "Get an output", "Its amount, owner and spender.", query.OutputAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) { return v.Output(ctx, q.args[0]) }).
			shown(docs.Example{Path: "/output/" + firstPayment + ":1"}),
		post("outputs", "/outputs", "Get many outputs", "In the order of the request, null for an unknown one.", OutputsAnswer{},
			func(ctx context.Context, v *query.View, body *OutputRefs) (any, error) {
				found, err := v.Outputs(ctx, body.Outputs)
				return &OutputsAnswer{found}, err
			}).shown(docs.Example{Path: "/outputs", Body: `{"outputs":["` + firstPayment + `:0"]}`}),
		post("spends", "/spends", "Get the spenders of many outputs",
			"In the order of the request, null for an unknown output; `spent_by` is null for an unspent one.", SpendsAnswer{},
			func(ctx context.Context, v *query.View, body *OutputRefs) (any, error) {
				found, err := v.Spends(ctx, body.Outputs)
				return &SpendsAnswer{found}, err
			}).shown(docs.Example{Path: "/spends", Body: `{"outputs":["` + firstPayment + `:1","` + firstPayment + `:9"]}`}),
	}
}
