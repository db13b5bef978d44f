package actions

import (
	"encoding/hex"
	"math/big"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/address"
	"birthmark/core/schema"
)

// Extended answers the registered pools with their stakes at the tip of the node, in the order of their first registration.
func Extended(q *exchange.Request) error {
	p := q.Page
	n, err := q.Node()
	if err != nil {
		return err
	}
	made, err := q.PoolIndex()
	if err != nil {
		return err
	}
	ids, err := registeredPools(q)
	if err != nil {
		return err
	}
	tip, _ := q.Chain.Moved()
	stakes, err := q.Stakes.At(q.Ctx, tip, n.Stakes)
	if err != nil {
		return exchange.UnlessUnsupported(err)
	}
	type extended struct {
		ID             string                 `json:"pool_id"`
		Hex            string                 `json:"hex"`
		ActiveStake    string                 `json:"active_stake"`
		LiveStake      string                 `json:"live_stake"`
		BlocksMinted   int                    `json:"blocks_minted"`
		LiveSaturation float64                `json:"live_saturation"`
		DeclaredPledge string                 `json:"declared_pledge"`
		MarginCost     float64                `json:"margin_cost"`
		FixedCost      string                 `json:"fixed_cost"`
		Metadata       *contents.PoolMetadata `json:"metadata"`
	}
	all := []extended{}
	for _, id := range exchange.SlicePage(ids, p) {
		newest, err := newestOf(q, id)
		if err != nil {
			return err
		}
		hash, err := address.ParsePool(id)
		if err != nil {
			return err
		}
		blocks := 0
		for _, err := range made.BlocksWith(q.Q.R, hash, 0, schema.HeightAfter(q.Q.Tip), false) {
			if err == nil && blocks%exchange.LongSkip == 0 {
				err = q.Ctx.Err()
			}
			if err != nil {
				return err
			}
			blocks++
		}
		stake := stakes.Pools[string(hash)]
		saturation := 0.0
		if stakes.Supply > 0 {
			share := new(big.Int).Mul(exchange.Int(stake.Live), exchange.Int(stakes.OptimalPools))
			saturation, _ = new(big.Rat).SetFrac(share, exchange.Int(stakes.Supply)).Float64()
		}
		all = append(all, extended{
			id, hex.EncodeToString(hash), exchange.Decimal(stake.Active), exchange.Decimal(stake.Live), blocks, saturation,
			newest.Pledge, newest.MarginCost, newest.FixedCost, newest.Metadata,
		})
	}
	q.Answer = all
	return nil
}
