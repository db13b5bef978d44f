package bench

import (
	"context"
	"testing"

	"birthmark/bench/generate"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// someDefinitions are custom indexes with values on every chain.
var someDefinitions = []model.Definition{
	{Name: "small", Kind: model.OneToMany, When: "output.value < 1000000000", Value: "string(output.index)"},
	{Name: "inputs", Kind: model.ManyValued, Value: "[string(tx.index), string(output.index)]"},
}

func TestEvaluateCustomIndexes(t *testing.T) {
	testrun.Slow(t)
	for _, name := range ChainNames() { // seconds per chain
		t.Run(name, func(t *testing.T) {
			network := generate.Networks[name]
			chain, err := (&Chain{Name: name}).adapter(network)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := GeneratedBlocks(name, testseed.New(t), 20, 500)
			if err != nil {
				t.Fatal(err)
			}
			found, err := Evaluate(context.Background(), chain, someDefinitions, blocks)
			if err != nil || len(found) != len(someDefinitions)+1 {
				t.Fatalf("%v, %v", found, err)
			}
			small, inputs, all := found["small"], found["inputs"], found[Together]
			// A list has one or two distinct values.
			if small.Outputs == 0 || small.Values == 0 || small.Values > small.Outputs || inputs.Values < inputs.Outputs || inputs.Values > 2*inputs.Outputs ||
				all.Values != small.Values+inputs.Values || all.Outputs != small.Outputs {
				t.Errorf("%+v, %+v, %+v", small, inputs, all)
			}
			for name, e := range found {
				if e.Base <= 0 || e.Allocs <= 0 {
					t.Errorf("%s: %+v", name, e)
				}
			}
		})
	}
}

func TestInvalidDefinitionIsRejected(t *testing.T) {
	chain, err := (&Chain{Name: "bitcoin"}).adapter(generate.Networks["bitcoin"])
	if err != nil {
		t.Fatal(err)
	}
	_, err = Evaluate(context.Background(), chain, []model.Definition{{Name: "bad", Value: "output.nothing"}}, nil)
	if kind, _ := model.KindOf(err); kind != model.Usage {
		t.Errorf("%v", err)
	}
}
