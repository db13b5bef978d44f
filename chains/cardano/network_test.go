package cardano

import (
	"testing"

	"birthmark/chains/cardano/genesis"
)

func networkNamed(t testing.TB, name string) *genesis.Network {
	t.Helper()
	n, err := genesis.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
