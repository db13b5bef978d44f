package zcash_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/chaintest"
	"birthmark/chains/zcash"
	"birthmark/internal/testnode/cointest"
)

// real are blocks of mainnet of every version of transactions, from the tests of Zebra (zebra-test, MIT licence). The
// merkle root is that of the ids, so a wrong id is an error. From block 1,687,104 on transactions have version 5. Block
// 3,470,793, from sovright/mining-infra (crates/sovright-relay/tests/fixtures, Apache licence or MIT), has five of version 6,
// three of them with Ironwood actions, whose proofs and signatures are zeros here: no id covers them.
var real = []cointest.Real{
	{File: "mainnet-1", Hash: "0007bc227e1c57a4a70e237cad00e7b7ce565155ab49166bc57397a26d339283", Txs: 1},
	{File: "mainnet-202", Hash: "0000178e7e991f6f4c787cab18325c6a9a2933cffd4d2d65f7e615dc79ecd46d", Txs: 1},
	{File: "mainnet-396", Hash: "000000e869e3a0fa79858a51b4b1d09a6480dcdb37bae63653fcb11a718abf3f", Txs: 2},
	{File: "mainnet-347501", Hash: "000000000a915a2d1d0d438469dfb0c9a7acaee2dd98e41e521e06a9d02458d3", Txs: 4},
	{File: "mainnet-419202", Hash: "000000000259e0c1db3ae6e90142bb997185f3b359c70ad4e04c4afdc1293889", Txs: 4},
	{File: "mainnet-434873", Hash: "00000000020081c4c720666cce3a674f355c562db7021be19fbaea4d1ffc1e82", Txs: 12},
	{File: "mainnet-982681", Hash: "0000000000181c0dce4b753cfdf98a334c6a665e9cec2c40897d10c6877a767a", Txs: 3},
	{File: "mainnet-1046400", Hash: "00000000002038016f976744c369dce7419fca30e7171dfac703af5e5f7ad1d4", Txs: 1},
	{File: "mainnet-1687106", Hash: "00000000017d40c50ef7f27bd2e997ed5d1009a332e4fa85b9939652b8dd516b", Txs: 5},
	{File: "mainnet-1687107", Hash: "00000000005a5e6f54c494b6317f3e800ce89a716584e62dcb35c2b3ace4b498", Txs: 6},
	{File: "mainnet-1687113", Hash: "0000000001420e63d7476359ccba1b1a8ea0c7581a97c0a792f967fb8b3cbbb1", Txs: 10},
	{File: "mainnet-1687121", Hash: "0000000000cf398eb1fbf9dd05b6ca4aead556b46d884428d3b7557ecd8739dd", Txs: 4},
	{File: "mainnet-3470793", Hash: "000000000030976123e65211bdfb288b21b4492f56bb1a42710588ca6b8c0d98", Txs: 7},
}

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("zcash")
	chaintest.Run(t, cointest.Fixture(t, coin, cointest.Inputs(t, "mainnet", real)...))
}

func TestRealBlocks(t *testing.T) {
	c, err := bitcoin.Open(zcash.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	cointest.Blocks(t, c, real)
	versions := map[uint32]int{}
	for _, b := range real {
		for i := range b.Txs {
			tx, err := zcash.Spec.Format.TxAt(b.Read(t), i)
			if err != nil {
				t.Fatal(err)
			}
			versions[zcash.Spec.Format.Version(binary.LittleEndian.Uint32(tx))]++
		}
	}
	if len(versions) != 6 {
		t.Errorf("transactions of the versions %v, expected 1 to 6", versions)
	}
	b := cointest.Block(t, c, real[9].Read(t), real[9].Hash, real[9].Txs)
	header, err := c.Header(b.Header)
	if text, _ := json.Marshal(header); err != nil || !strings.Contains(string(text), `"version":4,"merkle_root"`) || b.Time != 1654019794 {
		t.Errorf("%.300s, time %d, %v", text, b.Time, err)
	}
	// The founders' reward of block 1 pays to the first address in zcashd's chainparams.cpp.
	reward := cointest.Block(t, c, real[0].Read(t), real[0].Hash, 1).Txs[0].Outputs[1]
	if got := c.Indexes()[0].Format(reward.Keys[0].Value); got != "t3Vz22vK5z2LcKEdg16Yv4FFneEL1zg9ojd" || reward.Value != 12_500 {
		t.Errorf("the founders' reward pays %d to %s", reward.Value, got)
	}
}

// Transactions of version 6 (ZIP 229): a coinbase, and transparent ones of testnet's blocks 4,368,630 and 4,368,633.
func TestVersion6(t *testing.T) {
	const start = "0600008098b684d85b16a53700000000"
	for raw, want := range map[string]string{
		start + "64000000000139300000000000001976a914070707070707070707070707070707070707070788ac00000000": "e83f6c92e05eba2bed2a5ba84663fcb7cd35011da5ab07bd85c271ff1dca557d",
		start + "59a942000137cc32fe2d7773d9b003db03e2a93ee4c67655cedcc1ef0a5d0ba0da4c1a7918010000006b483045022100d5d44eac" +
			"f0a8b8a7b98a8b02174c3e7d42ed7e776f11078956243262da39b38f02201711cda6de8c603569d95e6d2661e59059aa812338a40da433" +
			"16acb99693156201210388e6af60fe4d0fe63248e3953165f6f13dd57f733ed7283d68f12f2acfb3b41fffffffff01b8e6970000000000" +
			"1976a914210c1452fa23b003f258d03dbfad4eb5e063eb7988ac00000000": "d2b5a31914bc66168f3f0ea8db2fd61ffffeb81fbcec4a2ea2f62de3d19d8074",
		start + "5ca942000174809dd1e32df6a22e4aecbc1fb8feff1fd62fdba80e3f8f1666bc1419a3b5d2000000006b483045022100b78a1461" +
			"db30d256ececae36738faa4af79f9b89f79a5cb531bc411aded93cd702204753b0e80e4eeae7a4c8fbe9338597a0622ee00f09734e5a5f" +
			"e643141d69680f012102e6a829db766cdf6488cfae3cd9588b1871317b625becdd5381c356923004a8cdffffffff020000000000000000" +
			"266a2441524f3274f6ba041e253bb75e523e1b0d00422e44221c7a0240757cd1a40ad15d51366220ac9700000000001976a914210c1452" +
			"fa23b003f258d03dbfad4eb5e063eb7988ac00000000": "eeaa894c3c46814f7228a7ecf2be84c0006c1154b5101688dd413d9a419689c0",
	} {
		tx, err := hex.DecodeString(raw)
		if err != nil {
			t.Fatal(err)
		}
		id, err := zcash.Spec.Format.TxID(tx)
		if got := block.FormatHash(id); err != nil || got != want {
			t.Errorf("a transaction of version 6 has the id %s, %v, expected %s", got, err, want)
		}
	}
}

// The addresses and scripts are those of the tests of Blockbook's Zcash parser.
func TestAddresses(t *testing.T) {
	c, err := bitcoin.Open(zcash.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	cointest.Addresses(t, c, map[string]string{
		"t1Y4yL14ACHaAbjemkdpW7nYNHWnv1yQbDA": "76a9149bb8229741305d8316ba3ca6a8d20740ce33c24188ac",
		"t1VmHTTwpEtwvojxodN2CSQqLYi1hzY3cAq": "76a914826f87806ddd4643730be99b41c98acc379e83db88ac",
		"t1ecxMXpphUTRQXGLXnVhJ6ucqD3DZipddg": "76a914e395634b7684289285926d4c64db395b783720ec88ac",
	})
}

// TEX addresses are other forms of addresses of keys. The first three are test vectors (zcash-test-vectors, zip_0320.json).
func TestTEXAddresses(t *testing.T) {
	c, err := bitcoin.Open(zcash.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	address := c.Indexes()[0]
	for tex, want := range map[string]string{
		"tex10wur2u9clts5dcpu2vc6qg93uzyj7cca2xm732": "t1V9mnyk5Z5cTNMCkLbaDwSskgJZucTLdgW",
		"tex1rkq7seu3cukjjtusde7q8xnjne93laluyvdxu7": "t1LZdE42PAt1wREUv1YMYRFwJDPHPW8toLL",
		"TEX1YVVRNCC9CZSZA45PGPH67G39SHMXYWGYVSYPWN": "t1M5AgJw56FNFRBNGtzAGX4AHfQh7ZCxd4w",
	} {
		value, err := address.Parse(tex)
		if got := address.Format(value); err != nil || got != want {
			t.Errorf("%s is %s, %v, expected %s", tex, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"tex10wur2u9clts5dcpu2vc6qg93uzyj7cca2xm733":                                     "checksum",
		"textest1qyqszqgpqyqszqgpqyqszqgpqyqszqgpfcjgfy":                                 "it is an address of testnet",
		"zs1z7rejlpsa98s2rrrfkwmaxu53e4ue0ulcrw0h4x5g8jl04tak0d3mm47vdtahatqrlkngh9slya": "a shielded address is not indexed",
		"u1pg2aaph7jp8rpf6yhsza25722sg5fcn3vaca6ze27hqjw7jvvhhuxkpcg0ge9xh6drsgdkda8qjq5chpehkcpxf87rnjryjqwymdheptpvnljqqrjqzjwkc2ma6hcq666kgwfytxwac8eyex6ndgr6ezte66706e3vaqrd25dzvzkc69kw0jgywtd0cmq52q5lkw6uh7hyvzjse8ksx": "its transparent address",
	} {
		if _, err := address.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, expected %s", text, err, want)
		}
	}
}
