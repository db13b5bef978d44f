package genesis

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/blinklabs-io/gouroboros/ledger/byron"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

func TestGenesisOfMainnetMatchesGouroboros(t *testing.T) {
	dir := genesisData(t, "mainnet")
	n, err := ReadFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, err := byron.NewByronGenesisFromFile(filepath.Join(dir, byronGenesisFile))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := file.GenesisUtxos()
	if err != nil {
		t.Fatal(err)
	}
	want := map[model.Hash]string{}
	for _, u := range theirs {
		want[model.Hash(u.Id.Id())] = u.Output.Address().String() + " " + u.Output.Amount().String()
	}
	ours, err := n.Outputs()
	if err != nil || len(ours) != len(want) {
		t.Fatalf("%d outputs, %v, expected %d", len(ours), err, len(want))
	}
	for _, o := range ours {
		if got := address.Format(n.Network, o.Address) + " " + strconv.FormatUint(o.Value, 10); got != want[o.Tx] {
			t.Fatalf("%s has %s, expected %s", o.Tx, got, want[o.Tx])
		}
	}
}
