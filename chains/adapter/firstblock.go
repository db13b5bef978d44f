package adapter

import (
	"birthmark/model"
)

// FirstBlock finds the first block that a pruned node has. The node lacks the block at height lacks and has the one at
// height has.
func FirstBlock(lacks, has model.HeightPk, hasBlock func(model.HeightPk) (bool, error)) (model.HeightPk, error) {
	for lacks+1 < has {
		middle := lacks + (has-lacks)/2
		found, err := hasBlock(middle)
		if err != nil {
			return 0, err
		}
		if found {
			has = middle
		} else {
			lacks = middle
		}
	}
	return has, nil
}
