package genesis

import (
	"testing"

	"birthmark/model"
)

func TestSlotsHaveTimesAndEpochs(t *testing.T) {
	for _, c := range []struct {
		network     string
		slot        uint64
		time        int64
		epoch       uint64
		description string
	}{
		{"mainnet", 0, 1506203091, 0, "the first slot"},
		{"mainnet", 4_492_799, 1596059071, 207, "the last slot of Byron"},
		{"mainnet", 4_492_800, 1596059091, 208, "the first of Shelley, 2020-07-29 21:44:51"},
		{"mainnet", 72_316_796, 1663883087, 364, "2022-09-22 21:44:47, just before Vasil"},
		{"preprod", 86_400, 1655769600, 4, "the first of Shelley, 2022-06-21"},
		{"preview", 0, 1666656000, 0, "the first slot"},
		{"preview", 86_400, 1666742400, 1, "a day later"},
	} {
		n, err := ByName(c.network)
		if err != nil {
			t.Fatal(err)
		}
		if at, epoch := n.Time(c.slot), n.Epoch(c.slot); at != c.time || epoch != c.epoch {
			t.Errorf("%s of %s: slot %d at %d in epoch %d, expected %d in %d", c.description, c.network, c.slot, at, epoch, c.time, c.epoch)
		}
	}
	_, err := ByName("testnet")
	if kind, code := model.KindOf(err); kind != model.Usage || code != "unknown_network" {
		t.Errorf("an unknown network: %v", err)
	}
}
