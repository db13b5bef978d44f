package script_test

import (
	"encoding/hex"
	"testing"

	"birthmark/api/compat/script"
)

// Descriptors equal the values of desc in public answers of Bitcoin Core to getrawtransaction and getblock: of the first
// payment of mainnet, of an inscription's multisig, of runestones, and of witness programs.
func TestDescriptorsMatchCore(t *testing.T) {
	for _, c := range []struct{ script, address, want string }{
		{
			"4104ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84cac", "",
			"pk(04ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84c)#hsw9ejus",
		},
		{
			"512103c46b73fe2ff939bea5d0a577950dc8876e863bed11c887d681417dfd70533e5121039036c8182c70770f8f6bd702a25c7179bfff1ccb3a844297a717226b88b976cc" +
				"2102020202020202020202020202020202020202020202020202020202020202020253ae", "",
			"multi(1,03c46b73fe2ff939bea5d0a577950dc8876e863bed11c887d681417dfd70533e51,039036c8182c70770f8f6bd702a25c7179bfff1ccb3a844297a717226b88b976cc," +
				"020202020202020202020202020202020202020202020202020202020202020202)#jjleg3k0",
		},
		{"6a5d0414011400", "", "raw(6a5d0414011400)#cwmyltm8"},
		{"6a024869", "", "raw(6a024869)#nz6xdglz"},
		{
			"0014c3f1f018c993180e667d6fcc51af0036a38a9729", "bc1qc0clqxxfjvvquenadlx9rtcqx63c49ef0pfw29",
			"addr(bc1qc0clqxxfjvvquenadlx9rtcqx63c49ef0pfw29)#vrdfe95j",
		},
		{
			"512083698e458c6664e1595d75da2597de1e22ee97d798e706c4c0a4b5a9823cd743", "an address",
			"rawtr(83698e458c6664e1595d75da2597de1e22ee97d798e706c4c0a4b5a9823cd743)#lr3hfg6s",
		},
	} {
		b, err := hex.DecodeString(c.script)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(script.AppendDescriptor(nil, b, c.address)); got != c.want {
			t.Errorf("%s: %s, expected %s", c.script, got, c.want)
		}
	}
}

// Keys that no descriptor has: a hybrid one, and one that is on no curve (InferPubkey and InferXOnlyPubkey in
// src/script/descriptor.cpp of bitcoin/bitcoin).
func TestDescriptorsOfOddKeys(t *testing.T) {
	hybrid := append(make([]byte, 0, 67), 65, 6)
	hybrid = append(append(hybrid, make([]byte, 64)...), 0xac)
	taproot := append([]byte{0x51, 32}, make([]byte, 32)...)
	multisig := append(append([]byte{0x51}, hybrid[:66]...), 0x51, 0xae)
	for _, c := range []struct {
		script        []byte
		address, want string
	}{{hybrid, "", "raw("}, {taproot, "bc1p", "addr(bc1p)"}, {multisig, "", "raw("}} {
		if got := string(script.AppendDescriptor([]byte("x"), c.script, c.address)); got[1:1+len(c.want)] != c.want {
			t.Errorf("%x: %s, expected %s", c.script, got, c.want)
		}
	}
}
