package params

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
)

// checkpoints are added to those of package chaincfg. They are the blocks of Bitcoin Core's assumeutxo snapshots
// (kernel/chainparams.cpp), the last block of mainnet that Bitcoin Cash shares, and the block after it.
var checkpoints = map[string]map[int32]string{
	chaincfg.MainNetParams.Name: {
		478_558: "0000000000000000011865af4122fe3b144e2cbeea86142e8ff2fb4107352d43",
		478_559: "00000000000000000019f112ec0a9982926f1258cdcc558dd7c3b7e5dc7fa148",
		840_000: "0000000000000000000320283a032748cef8227873ff4872689bf23f1cda83a5",
		880_000: "000000000000000000010b17283c3c400507969a9c2afd1dcf2082ec5cca2880",
		910_000: "0000000000000000000108970acb9522ffd516eae17acddcb1bd16469194a821",
		935_000: "0000000000000000000147034958af1652b2b91bba607beacc5e72a56f0fb5ee",
	},
	chaincfg.TestNet4Params.Name: {
		90_000:  "0000000002ebe8bcda020e0dd6ccfbdfac531d2f6a81457191b99fc2df2dbe3b",
		120_000: "000000000bd2317e51b3c5794981c35ba894ce27d3e772d5c39ecd9cbce01dc8",
	},
	chaincfg.SigNetParams.Name: {
		160_000: "0000003ca3c99aff040f2563c2ad8f8ec88bd0fd6b8f0895cfaf1ef90353a62c",
		290_000: "0000000577f2741bb30cd9d39d6d71b023afbeb9764f6260786a97969d5c9ac0",
	},
}

// withCheckpoints returns a copy of p with all checkpoints in the order of their heights.
func withCheckpoints(p *chaincfg.Params) *chaincfg.Params {
	all := *p
	all.Checkpoints = slices.Clone(p.Checkpoints)
	for height, text := range checkpoints[p.Name] {
		hash, err := chainhash.NewHashFromStr(text)
		if err != nil {
			panic(err) // invalid constant
		}
		all.Checkpoints = append(all.Checkpoints, chaincfg.Checkpoint{Height: height, Hash: hash})
	}
	slices.SortFunc(all.Checkpoints, func(a, b chaincfg.Checkpoint) int { return cmp.Compare(a.Height, b.Height) })
	return &all
}
