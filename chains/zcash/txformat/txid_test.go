package txformat_test

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/zcash"
	"birthmark/chains/zcash/txformat"
	"birthmark/internal/testseed"
)

// part is a part of a transaction: random bytes after the count of its items, which is not changed.
type part struct {
	name   string
	count  []byte
	size   int
	covers bool // the id covers it
}

// The id covers neither scripts of inputs, proofs nor signatures (ZIP 244), and from version 6 on no anchors (ZIP 229).
// It covers everything else.
func TestIDsCoverWhatTheZIPsName(t *testing.T) {
	rng := testseed.Rand(t)
	for version, group := range map[uint32]uint32{5: 0x26a7270a, 6: 0xd884b698} {
		anchors := version == 5
		parts := []part{
			{"the branch, lock time and expiry", nil, 12, true},
			{"the outpoint", []byte{1}, 36, true},
			{"the script of the input", []byte{5}, 5, false},
			{"the sequence", nil, 4, true},
			{"the value", []byte{1}, 6, true},
			{"the script of the output", []byte{0, 0, 7}, 7, true},
			{"the Sapling spends", []byte{2}, 2 * 96, true},
			{"the Sapling outputs", []byte{2}, 2 * 756, true},
			{"the Sapling balance", nil, 8, true},
			{"the Sapling anchor", nil, 32, anchors},
			{"the Sapling proofs and signatures", nil, 2*(192+64) + 2*192 + 64, false},
		}
		for _, pool := range []string{"Orchard", "Ironwood"}[:version-4] {
			parts = append(parts, part{"the actions of " + pool, []byte{2}, 2 * 820, true},
				part{"the flags and balance of " + pool, nil, 1 + 8, true}, part{"the anchor of " + pool, nil, 32, anchors},
				part{"the proofs of " + pool, []byte{90}, 90, false}, part{"the signatures of " + pool, nil, 3 * 64, false})
		}
		tx := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, version|1<<31), group)
		at := make([]int, len(parts))
		for i, p := range parts {
			tx = append(tx, p.count...)
			at[i] = len(tx)
			for range p.size {
				tx = append(tx, byte(rng.Uint32()))
			}
		}
		id, err := zcash.Spec.Format.TxID(tx)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range parts {
			for range 8 {
				other := slices.Clone(tx)
				other[at[i]+rng.IntN(p.size)] ^= byte(1 + rng.IntN(255))
				got, err := zcash.Spec.Format.TxID(other)
				if err != nil || (got != id) != p.covers {
					t.Errorf("version %d with another byte in %s has the id %s, %v; before %s", version, p.name,
						block.FormatHash(got), err, block.FormatHash(id))
				}
			}
		}
	}
}

// The vectors of version 6 in zcash-test-vectors (ironwood_v6_tx_hash.json: an empty transaction, a Sapling output, a Sapling
// spend and an Orchard action), without their proofs and signatures, which the id does not cover. Their version group is
// not that of the network, so they are not read by the format. Ironwood actions are in a real block, in package zcash. The
// first two are the empty transactions of NU7 in the tests of Zebra (nu7_branch_id_and_transaction_formats).
func TestIDsMatchTestVectors(t *testing.T) {
	for _, vector := range []struct {
		tx    string
		zeros int // bytes of proofs and signatures; empty bundles follow them
		empty int
		id    string
	}{
		{"050000800a27a726d90a1977000000000100000000000000", 0, 1, "328d975581fbf002206ef6f0b69fe57fb47f40ec31c59ac62c3565d4e259e128"},
		{"0600008098b684d8d90a1977000000000100000000000000", 0, 2, "78296c68a370c2e1f058d997c81c7b011c4562c52fc5ca2994ad59cd179fbe9e"},
		{"06000080ffffffffffffffff51ce52e85c0e5f0f00000000", 0, 2, "c2f2f45f086c3e1d55a2f057819853a036d51647b4a4271bef8faac3d1edbecb"},
		{
			"06000080ffffffffffffffff71a1dcdfc23e260600000001968dd650329d2e322b8957ed22cf6c9232c3" +
				"072281b80dbdb9aa33a0b89fb837dd0c6b04309163a7b5ba65fc7f39dbd400416ad4756eaa794c540731" +
				"2884b434d1d13a1083d9e80e4f0f7f5c3b42bd883fd75a30d2f423dcf8e4f6cf6b92f136d42683f76bac" +
				"388628e21cf4ad041bdb808837b7bae76b4955b8fbd79cd30acb7022f770c97f9ac9fdaf0e55f4178d05" +
				"20672d1a7be54a928085d40be7e188fc026c6d59221058bfe88d2eb8dd20988362204e8366e17b6b4460" +
				"668916153e887f8d1206ffed87fd8f75e9f5522c7e7e9f00f3e655e31969d958f19d8661b6a35d15578e" +
				"e0fe0378d43983396de40d1bd94d97205c4853551e870e8866bcc60094b2cb2c293d932fdea5ff37f5dd" +
				"d5a33e9647777d7645c0d0fd9e7be2fa16a16c51f72f51444a8592a712a01667fc8b09cd54888a6761df" +
				"d6a4ca8716ccdace0076e65d5b9e16bd23a4f5e8f09bcd9690b46991d6957cdf5a75bb4254130d2c7fb4" +
				"737345deef8025af5caffe44082ba1aa30312b250b0ab7b29edab2c8c8349b306fae2d11a1e67f885140" +
				"68e6a3451fa00c72e8b6bf4c36a8ed64d65e86438e8995981c0dbc19f7fe04474182e67469063db0fb2b" +
				"885e17b417fc3835747636c30f2af6d553e6e7b499a1b68ff36b529d08fb3bf8786845696741d3c87852" +
				"5cac2ad8b5c3a262228e122febcee7c8e0bb782ef8c2f1b58b7b11f3786a7d1c89fd7df080d5d38ff55a" +
				"623c6d6bc12573044f338ece7fb7e2f68cff170c94188c181c4bd0489d61aab30294a7cc0dbecb9784bf" +
				"de68b2a63500314a5b0476dbf7e85bec4f3dfb429ede1b5703ebc8a6d5af3f844fbc94c34bf0f3d16f12" +
				"149195411ab435621ec19a5eb8df2a14979536a31abcd6c74f96ddb3b8ee3027b8020aa2761766af2423" +
				"ab2fbc90fa7cf597a19192945914aa0f9ebb9b63388207bafbc34b6d11d4e04bc5b831c46c4996a35d91" +
				"c5ea93b811ab5c90de2adefce545321a0aa01edbbc479b6f746ec6df9927a9e4a621e9ce22f31a8b7541" +
				"5717ec9f95db7808d810c9322e3c8e54b4d0e017cef43db5ffffffffffffffff",
			256, 2, "acbf09aff863a3a6d082e7aeee11f827fb13cca310a3a72273b15872492e95a5",
		},
		{
			"06000080ffffffffffffffffc7ca1b544bc4a0100000014899f0308c715180a8822c287c98ee9d28fa53" +
				"f7a6130a2994e664e1f3b57386fe955ef33fcea114b8c7d7e129bf3fc31a6428ba3a4513ad8e97bc3718" +
				"a5ae3a6fc6831991f8ed01c9e7f3524c217385fd4d1c2f4ad1cfa7ff6f1ceaf5712abc00e80300000000" +
				"00003afc7a31d4497b3fbc67a0817cddcfacd659bd2dbe89559c1fce302ffd2f5806",
			320, 2, "5a8ab0201eab1431fcd4d48ca900f7fe87fd6a4a02e31aa793fe629ee9532ce9",
		},
		{
			"06000080ffffffffffffffff3da9330572b960040000000001a6ae1677adf42ec698a1d6edee0b51c6cb" +
				"a30f8c90b44842194b74887d8b8a1969478c4c7d985969b287926a5326cd8e2186df14478e9fb10c2709" +
				"6c3b5cbd019de5c0242b5303ba7421347f1ebb51aa6c8da9c6120a1df655dd619785aba90968c99f45f3" +
				"2be3b518a807a227682b9cdbd0d3729b09bc9edfad5067eb91d5181b40b3fb30cf50508a6a0f50ab437f" +
				"a14b628d6df2b04f36d799d00b5126032a256d6afa1b875de68cb553ee252917c2a0899c4bae8e08502d" +
				"8c23b467a4603a18c5b06ff87f31ff06912b31739814bfbd013f94c0077d8d165209ba3400a3d1f3b3ba" +
				"e8da5655cad340f6d74f9f4474c804b3d4d2ce52669a6c9575e378fc0b601656bb27578dedee842a82be" +
				"d4f816119e65a42bbdfb35b4f27fdcd2ba28dc4f67ffa9562bffee98ae89c019b8d54690c643ca4d6ac9" +
				"242689d0f29595aa4c5d47f750a88d52dc9e483497768b6ac31dca5abf139b0389dd2e63245c5e1456c4" +
				"f0cf4f9fbad738c972be57309e8f09cc60afd4a2975c354e7a695ba1b116813b0ffce8107572b12cde1c" +
				"6149af92cb3f55819288bda27a245be888def8cac6f8558dd96afc9b7dfef12ae40cc70efc0751de8f8a" +
				"8321ae49a70e24183763317a8adf18ba36f3edabfa344ddafc1aff2dfbd13908add42b9bad3401f087d0" +
				"c4bbe38a3af268d98c639791c8b6196539481a327c421e657e91fbb45371cbd2c6722c5f40ec3df03f80" +
				"095ca108c606c029fc98c9d6a7098b5f733209ff0c77264f559df3237a7b43ec2b4d27dfac3e9b29e9e0" +
				"02e1783e7013cb08216e454663392ab012c6b1e19f123763d8b005b26fc23184e89a3e65ac88da7ac929" +
				"8aca167e93dabfbaa69bf951ff53f41980a2ad82b817bbd87a3e5a722b598d6d6c4f449a5a6ec0de15e4" +
				"3404319afd37060e74a6e1f31cdfacab96f708dc3d53d2b7155d2e88eee87a28485561328ceff8d80a40" +
				"1c6570695cee80e57f709fc6ad534f6836616629199c2cfd5ad3094310781175d7ed5126bc29f8b8e12d" +
				"4883e871ab3862a0f4dcda91c37b21e9bd5478b337512efefb5896f15919cfe11c729a7b7dee1bb54335" +
				"3b3747f19be440bdb80ef483cbb2054026c8faa977a53619a11fe61a0910a27e6afea8fcb9baf2cc1678" +
				"9cd034e9ef03e803000000000000bb7a01c0135cdb51fe49a51bf9199ef5849aca887bed64e91025c8ea" +
				"d8f03733",
			129, 1, "f4e598370bb913468559691dcb144434f6921483532b2404ea0b01a6e80608fb",
		},
	} {
		raw, err := hex.DecodeString(vector.tx)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, make([]byte, vector.zeros+vector.empty)...)
		id := txformat.ID(raw, block.Span{Body: 20, Outputs: 21, End: len(raw)})
		if got := hex.EncodeToString(id[:]); got != vector.id {
			t.Errorf("%.60s… has the id %s, expected %s", vector.tx, got, vector.id)
		}
	}
}
