package api

import (
	"context"

	"birthmark/api/docs"
	"birthmark/core/query"
)

func assetOperations() []*operation {
	return []*operation{
		listing(get("assets", "/assets", "assets", "List assets", "In the order of their first occurrence.", query.AssetsAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) { return v.Assets(ctx, q.page) }).
			with(orderedParameters).shown(docs.Example{Path: "/assets"}),
			func(a *query.AssetsAnswer) ([]query.AssetAnswer, *string) { return a.Assets, a.Next }),
		get("asset", "/asset/{asset}", "assets", "Get an asset",
			"Its first occurrence, the minted and burned amounts, the supply, and counts.", query.AssetAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) { return v.Asset(ctx, q.args[0]) }),
		listing(get("assetEvents", "/asset/{asset}/events", "assets", "List the mints and burns of an asset",
			"Each with its transaction.", query.AssetEventsAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return v.AssetEvents(ctx, q.args[0], q.within, q.page)
			}).with(rangeParameters, orderedParameters),
			func(a *query.AssetEventsAnswer) ([]query.AssetEventAnswer, *string) { return a.Events, a.Next }),
		listing(get("assetHolders", "/asset/{asset}/holders", "assets", "List the holders of an asset",
			"The addresses with unspent outputs that hold the asset, and the amount of each.", query.AssetHoldersAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return v.AssetHolders(ctx, q.args[0], q.page)
			}).with(pageParameters),
			func(a *query.AssetHoldersAnswer) ([]query.HolderAnswer, *string) { return a.Holders, a.Next }),
	}
}
