package ingest

import (
	"fmt"
	"math/big"
	"testing"

	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// The balance of transactions with few and with many assets, one after another, equals that of big integers.
func TestAssetsAreBalancedLikeBigIntegers(t *testing.T) {
	rng := testseed.Rand(t)
	var balance assetBalance
	large := 0
	for range 300 {
		births := 1 + rng.IntN(3*fewAssets)
		if births > fewAssets+1 {
			large++
		}
		birth := func(n int) model.AssetBirthPk {
			return model.AssetBirthPk{Utxo: model.UtxoPk(n / 2), Index: uint16(n % 2)}
		}
		left, mints := map[model.AssetBirthPk]*big.Int{}, 0
		tx := &BatchTx{}
		for n := range births {
			left[birth(n)] = new(big.Int)
			if rng.IntN(3) == 0 {
				amount := big.NewInt(rng.Int64N(1000) - 500)
				tx.mints = append(tx.mints, mint{birth: birth(n), amount: new(big.Int).Set(amount)})
				left[birth(n)].Add(left[birth(n)], amount)
				mints++
			}
		}
		balance.begin(tx)
		for range 4 * births {
			e := schema.AssetEntry{Birth: birth(rng.IntN(births)), Amount: model.Uint128{Hi: rng.Uint64() >> rng.IntN(65), Lo: rng.Uint64()}}
			sign := int64(1 - 2*rng.IntN(2))
			balance.add([]schema.AssetEntry{e}, sign)
			left[e.Birth].Add(left[e.Birth], new(big.Int).Mul(e.Amount.Big(), big.NewInt(sign)))
		}
		stated := map[model.AssetBirthPk]*big.Int{}
		for _, m := range tx.mints {
			stated[m.birth] = new(big.Int).Set(m.amount)
		}
		if err := balance.finish(true, true); err != nil {
			t.Fatal(err)
		}
		got := map[model.AssetBirthPk]string{}
		for _, m := range tx.mints {
			got[m.birth] = m.amount.String()
		}
		want := map[model.AssetBirthPk]string{}
		for b, n := range left {
			amount := new(big.Int).Neg(n)
			if s := stated[b]; s != nil {
				amount.Add(amount, s)
			}
			if amount.Sign() != 0 {
				want[b] = amount.String()
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%d assets, %d mints: %v, expected %v", births, mints, got, want)
		}
	}
	if large == 0 {
		t.Error("no transaction had many assets")
	}
}
