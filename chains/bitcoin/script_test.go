package bitcoin

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/internal/testseed"
)

func paramsOf(n *params.Network) *chaincfg.Params {
	return map[string]*chaincfg.Params{
		"mainnet": &chaincfg.MainNetParams, "testnet3": &chaincfg.TestNet3Params, "testnet4": &chaincfg.TestNet4Params,
		"signet": &chaincfg.SigNetParams, "regtest": &chaincfg.RegressionNetParams, "simnet": &chaincfg.SimNetParams,
	}[n.Name]
}

// expectedType returns btcd's class of a script, corrected where Core's Solver differs:
//
//   - any number of pushes of any length may follow OP_RETURN; btcd allows one push of 80 bytes;
//   - the keys of a bare multisig have a valid first byte; btcd accepts any 33 or 65 bytes. There may be up to 20 keys,
//     and counts above 16 are pushed as one byte;
//   - witness versions above 1, and other program lengths of version 1, are witness_unknown.
func expectedType(script []byte) string {
	if len(script) > 0 && script[0] == txscript.OP_RETURN {
		tokens := txscript.MakeScriptTokenizer(0, script[1:])
		for tokens.Next() {
			if tokens.Opcode() > txscript.OP_16 {
				return "nonstandard"
			}
		}
		if tokens.Err() != nil {
			return "nonstandard"
		}
		return "nulldata"
	}
	switch class := txscript.GetScriptClass(script); class {
	case txscript.NonStandardTy, txscript.MultiSigTy, txscript.WitnessUnknownTy:
		if coreMultisig(script) {
			return "multisig"
		}
		if txscript.IsWitnessProgram(script) && script[0] != txscript.OP_0 {
			return "witness_unknown"
		}
		return "nonstandard"
	default:
		return class.String()
	}
}

// coreMultisig is Core's MatchMultisig, written with btcd's tokenizer.
func coreMultisig(script []byte) bool {
	tokens := txscript.MakeScriptTokenizer(0, script)
	number := func() int {
		op, data := tokens.Opcode(), tokens.Data()
		switch {
		case op >= txscript.OP_1 && op <= txscript.OP_16:
			return int(op) - txscript.OP_1 + 1
		case op == txscript.OP_DATA_1 && data[0] >= 17 && data[0] <= 20:
			return int(data[0])
		}
		return -1
	}
	if !tokens.Next() {
		return false
	}
	need, keys := number(), 0
	for {
		if !tokens.Next() {
			return false
		}
		key := tokens.Data()
		if !(len(key) == 33 && (key[0] == 2 || key[0] == 3) || len(key) == 65 && (key[0] == 4 || key[0] == 6 || key[0] == 7)) {
			break
		}
		keys++
	}
	count := number()
	return need >= 1 && count >= need && count == keys &&
		tokens.Next() && tokens.Opcode() == txscript.OP_CHECKMULTISIG && tokens.Done()
}

// expectedAddress returns btcd's address of a script, or BIP 350's if btcd does not support it.
func expectedAddress(n *params.Network, script []byte) string {
	params := paramsOf(n)
	switch expectedType(script) {
	case "pubkey":
		// btcd rejects keys that are not on the curve and writes hybrid keys as if they were not hybrid.
		a, err := address.NewAddressPubKeyHash(address.Hash160(script[1:len(script)-1]), params)
		if err != nil {
			return err.Error()
		}
		return a.EncodeAddress()
	case "witness_unknown":
		version := byte(0)
		if script[0] != txscript.OP_0 {
			version = script[0] - txscript.OP_1 + 1
		}
		groups, err := bech32.ConvertBits(script[2:], 8, 5, true)
		if err != nil {
			return err.Error()
		}
		s, err := bech32.EncodeM(params.Bech32HRPSegwit, append([]byte{version}, groups...))
		if err != nil {
			return err.Error()
		}
		return s
	case "multisig", "nulldata", "nonstandard":
		return ""
	}
	_, addresses, _, err := txscript.ExtractPkScriptAddrs(script, params)
	if err != nil || len(addresses) != 1 {
		return ""
	}
	return addresses[0].EncodeAddress()
}

// scriptSeeds returns scripts of every form and their edge cases.
func scriptSeeds() [][]byte {
	key := func(first byte, size int) []byte { return append([]byte{first}, bytes.Repeat([]byte{0x42}, size-1)...) }
	push := func(b []byte) []byte { return append([]byte{byte(len(b))}, b...) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	hash := bytes.Repeat([]byte{7}, 20)
	var seeds [][]byte
	for first := range byte(9) {
		seeds = append(seeds, join(push(key(first, 33)), []byte{txscript.OP_CHECKSIG}), join(push(key(first, 65)), []byte{txscript.OP_CHECKSIG}))
	}
	for version := range 18 {
		op := byte(0x50 + version)
		if version == 0 {
			op = 0
		}
		for _, size := range []int{1, 2, 3, 20, 21, 32, 33, 40, 41} {
			seeds = append(seeds, join([]byte{op}, push(bytes.Repeat([]byte{9}, size))))
		}
	}
	for _, keys := range []int{1, 3, 16, 17, 20, 21} {
		for _, need := range []int{1, keys, keys + 1} {
			number := func(n int) []byte {
				if n <= 16 {
					return []byte{0x50 + byte(n)}
				}
				return []byte{1, byte(n)}
			}
			seeds = append(seeds, join(number(need), bytes.Repeat(push(key(2, 33)), keys), number(keys), []byte{txscript.OP_CHECKMULTISIG}))
		}
	}
	return append(seeds,
		nil, []byte{}, []byte{block.OpReturn}, []byte{block.OpReturn, 0}, []byte{block.OpReturn, 1}, []byte{block.OpReturn, 0x5d, 2, 1, 2, 1, 3},
		[]byte{block.OpReturn, txscript.OP_PUSHDATA1, 3, 1, 2, 3}, []byte{block.OpReturn, txscript.OP_PUSHDATA2, 3, 0, 1, 2, 3}, []byte{block.OpReturn, txscript.OP_PUSHDATA4, 1, 0, 0, 0, 9},
		[]byte{block.OpReturn, txscript.OP_PUSHDATA4, 0xff, 0xff, 0xff, 0xff, 9}, []byte{block.OpReturn, txscript.OP_PUSHDATA1}, []byte{block.OpReturn, block.OpReturn}, []byte{block.OpReturn, 0x50},
		join([]byte{block.OpReturn}, push(bytes.Repeat([]byte{1}, 75)), push(bytes.Repeat([]byte{2}, 60))),
		join([]byte{txscript.OP_DUP, txscript.OP_HASH160}, push(hash), []byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG}),
		join([]byte{txscript.OP_DUP, txscript.OP_HASH160}, push(hash), []byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKMULTISIG}),
		join([]byte{txscript.OP_HASH160}, push(hash), []byte{txscript.OP_EQUAL}), join([]byte{txscript.OP_HASH160}, push(hash), []byte{txscript.OP_EQUALVERIFY}),
		[]byte{0x51, 2, 0x4e, 0x73}, []byte{0x51, 2, 0x4e, 0x74}, []byte{0x52, 2, 0x4e, 0x73},
		join([]byte{0x51, txscript.OP_PUSHDATA1, 33}, key(2, 33), []byte{0x51, txscript.OP_CHECKMULTISIG}), // a key with a longer push than needed
		join([]byte{0x51}, push(key(2, 33)), []byte{0x51, 0x61, txscript.OP_CHECKMULTISIG}),                // another operation in between
		join([]byte{0x51}, push(key(5, 33)), []byte{0x51, txscript.OP_CHECKMULTISIG}),                      // not a key
		join([]byte{1, 1}, push(key(2, 33)), []byte{1, 1, txscript.OP_CHECKMULTISIG}),                      // numbers with a longer push than needed
		[]byte{1, txscript.OP_CHECKMULTISIG}, []byte{txscript.OP_CHECKMULTISIG}, []byte{0x51, txscript.OP_CHECKMULTISIG}, []byte{0x51, 0x51, txscript.OP_CHECKMULTISIG},
	)
}

// keysOf returns the decoder's keys of one script on a network.
func keysOf(t testing.TB, n *params.Network, script []byte) string {
	t.Helper()
	e := newEmitter(t, n, allIndexes)
	room := e.MaxBytes(script)
	e.arena = make([]byte, 0, room)
	all := indexes(n)
	keys := map[string]string{}
	for _, k := range e.builtin(nil, 0, script) {
		keys[all[k.Index].Name] = all[k.Index].Format(k.Value)
	}
	if len(e.arena) > room {
		t.Errorf("script %x: %d bytes of values, MaxBytes is %d", script, len(e.arena), room)
	}
	return fmt.Sprint(keys)
}

func TestScriptsAreClassifiedAsTxscriptAndCoreDo(t *testing.T) {
	r := testseed.Rand(t)
	seeds := scriptSeeds()
	for _, n := range networks {
		for _, script := range seeds {
			if got, want := keysOf(t, n, script), fmt.Sprint(expectedKeys(n, script)); got != want {
				t.Errorf("%s: script %x: %s, expected %s", n.Name, script, got, want)
			}
		}
	}
	// Small changes to scripts of known forms.
	for range 20_000 {
		script := bytes.Clone(seeds[r.IntN(len(seeds))])
		for range r.IntN(3) {
			switch {
			case len(script) == 0 || r.IntN(4) == 0:
				script = append(script, byte(r.Uint32()))
			case r.IntN(3) == 0:
				script = script[:r.IntN(len(script))]
			default:
				script[r.IntN(len(script))] = byte(r.Uint32())
			}
		}
		n := networks[r.IntN(len(networks))]
		if got, want := keysOf(t, n, script), fmt.Sprint(expectedKeys(n, script)); got != want {
			t.Fatalf("%s: script %x: %s, expected %s", n.Name, script, got, want)
		}
	}
}

func TestKindNamesAreTxscriptsNames(t *testing.T) {
	for k := range block.KindNames {
		found := false
		for class := txscript.NonStandardTy; class <= txscript.WitnessUnknownTy; class++ {
			found = found || class.String() == block.KindNames[k]
		}
		if !found {
			t.Errorf("txscript knows no %s", block.KindNames[k])
		}
	}
}

func FuzzScript(f *testing.F) {
	for _, s := range scriptSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		n := networks[len(script)%len(networks)]
		if got, want := keysOf(t, n, script), fmt.Sprint(expectedKeys(n, script)); got != want {
			t.Errorf("%s: script %x: %s, expected %s", n.Name, script, got, want)
		}
	})
}

// These outputs are on mainnet. Their addresses and types are from Core.
func TestKnownOutputs(t *testing.T) {
	for _, c := range []struct{ script, kind, address string }{
		// The output of the genesis block, and the first output that was spent.
		{"4104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac", "pubkey", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"},
		{"410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac", "pubkey", "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"},
		// BIP 173 and BIP 350.
		{"0014751e76e8199196d454941c45d1b3a323f1433bd6", "witness_v0_keyhash", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		{"512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "witness_v1_taproot", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"},
		{"5210751e76e8199196d454941c45d1b3a323", "witness_unknown", "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs"},
		{"6002751e", "witness_unknown", "bc1sw50qgdz25j"},
		{"51024e73", "anchor", "bc1pfeessrawgf"},
	} {
		script, err := hex.DecodeString(c.script)
		if err != nil {
			t.Fatal(err)
		}
		keys := newEmitter(t, networks[0], []string{indexScriptType, indexAddress}).builtin(nil, 0, script)
		if len(keys) != 2 || string(keys[0].Value) != c.kind || formatAddress(networks[0], keys[1].Value) != c.address {
			t.Errorf("%s: %v, expected %s and %s", c.script, keys, c.kind, c.address)
		}
	}
}
