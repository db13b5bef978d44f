package cardano

import (
	"encoding/hex"
	"strings"
	"testing"

	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Blocks of another network are rejected by their content before they are decoded further.
func TestBlocksOfAnotherNetworkAreRejected(t *testing.T) {
	genesisOf := func(network string) []byte {
		h, err := hex.DecodeString(networkNamed(t, network).ByronHash)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	const mainnet = 764824073
	later := func(number, slot uint64, parent []byte) []byte {
		return placedAt(t, ledger.EraShelley, number, slot, parent, raw(t, list{}), raw(t, list{}), raw(t, dict{}))
	}
	_, preview := made(t, 0)
	for name, c := range map[string]struct {
		network string
		first   []byte
		second  func(parent []byte) []byte // nil: the first block is rejected
		says    string
	}{
		"another genesis": {"preprod", boundaryAt(t, 0, 0, genesisOf("mainnet")), nil, "follows on the genesis 5f20df93"},
		"no genesis":      {"mainnet", preview[0], nil, "follows on no genesis: expected 5f20df93"},
		"a genesis for a network that begins with Shelley": {"preview", later(0, 0, genesisOf("mainnet")), nil, "expected 83de1d73"},
		"another magic":             {"mainnet", boundaryAt(t, 0, 0, genesisOf("mainnet")), func(p []byte) []byte { return byronAt(t, 1, 1, 3, p) }, "the protocol magic 1: expected 764824073"},
		"the first's magic":         {"preprod", byronAt(t, mainnet, 0, 0, genesisOf("preprod")), nil, "the protocol magic 764824073: expected 1"},
		"Shelley too early":         {"preprod", byronAt(t, 1, 0, 0, genesisOf("preprod")), func(p []byte) []byte { return later(1, 4*genesis.ByronEpochSlots-1, p) }, "it is of shelley: expected Byron before slot 86400"},
		"Byron too late":            {"preprod", byronAt(t, 1, 0, 0, genesisOf("preprod")), func(p []byte) []byte { return byronAt(t, 1, 1, 4*genesis.ByronEpochSlots, p) }, "it is of Byron, which ended before slot 86400"},
		"Byron without a Byron era": {"preview", byronAt(t, 2, 0, 0, genesisOf("preview")), nil, "it is of Byron, which ended before slot 0"},
	} {
		raws := [][]byte{c.first}
		if c.second != nil {
			raws = append(raws, c.second(hashOf(t, c.first)))
		}
		n, last := 0, error(nil)
		for _, err := range storedOn(t, c.network, model.SourceOptions{}, raws...).Follow(t.Context(), nil) {
			if last = err; err == nil {
				n++
			}
		}
		kind, code := model.KindOf(last)
		refused := model.Hash(hashOf(t, raws[len(raws)-1])).String()
		if kind != model.BadSource || code != "wrong_network" || n != len(raws)-1 || !strings.Contains(last.Error(), c.says) || !strings.Contains(last.Error(), refused+") does not belong to "+c.network) {
			t.Errorf("%s: %d blocks, then %v, expected %s", name, n, last, c.says)
		}
	}
}

// hashOf returns the hash of a serialized block on any network.
func hashOf(t *testing.T, raw []byte) []byte {
	t.Helper()
	b := decoded(t, raw)
	return b.Hash[:]
}
