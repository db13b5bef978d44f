package runes

import (
	"errors"
	"reflect"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/model"
)

// With a limit of entries, a transaction has the same runes as without, or the error states at least their number. Held never
// has more entries than the limit.
func TestALimitOfEntriesChangesNothingElse(t *testing.T) {
	rng, rules := testseed.Rand(t), RulesOf(0, false)
	refused, accepted := 0, 0
	for range 400 {
		assets, outputs := 1+rng.IntN(12), 1+rng.IntN(12)
		m := &Message{}
		derive := func(most int) (*model.TokenTx, error) {
			tx := &model.TokenTx{Tx: &model.Tx{Message: m, Outputs: make([]model.Output, outputs)}, Pk: 1 << 40, Most: most}
			tx.Spent = []model.TokenInput{{}}
			for i := range assets {
				asset, _ := ID{9, uint32(i)}.Asset()
				tx.Spent[0].Assets = append(tx.Spent[0].Assets,
					model.TokenAmount{Asset: asset, Amount: model.Uint128Of(uint64(1 + i*7))})
			}
			err := rules.Derive(tx, nil)
			return tx, err
		}
		for range rng.IntN(20) {
			m.Edicts = append(m.Edicts, Edict{ID{9, rng.Uint32N(uint32(assets))}, model.Uint128Of(rng.Uint64N(9)), rng.Uint32N(uint32(outputs + 1))})
		}
		for i := range uint32(outputs) {
			if rng.IntN(5) == 0 {
				m.Returns = append(m.Returns, i)
			}
		}
		free, err := derive(0)
		if err != nil {
			t.Fatal(err)
		}
		most := 1 + rng.IntN(40)
		limited, err := derive(most)
		tooMany := (*model.TooManyEntries)(nil)
		switch {
		case errors.As(err, &tooMany):
			refused++
			if tooMany.Entries < len(free.Held) || len(limited.Held) > most {
				t.Fatalf("%d of %d entries, limit %d: the error states %d", len(limited.Held), len(free.Held), most, tooMany.Entries)
			}
		case err != nil:
			t.Fatal(err)
		default:
			accepted++
			if !reflect.DeepEqual(limited.Held, free.Held) || !reflect.DeepEqual(limited.Supplies, free.Supplies) || len(free.Held) > most {
				t.Fatalf("limit %d: %+v, without %+v", most, limited, free)
			}
		}
	}
	if refused < 20 || accepted < 20 {
		t.Errorf("%d refused, %d accepted", refused, accepted)
	}
}
