package bitcoin

import (
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/internal/testseed"
)

// Addresses are encoded as by btcd, for payloads of every size and with leading zeros.
func TestAddressesAreEncodedAsByBtcd(t *testing.T) {
	rng := testseed.Rand(t)
	for round := range 20_000 {
		payload := make([]byte, rng.IntN(56))
		for i := rng.IntN(len(payload) + 1); i < len(payload); i++ {
			payload[i] = byte(rng.Uint32())
		}
		prefix := string([]byte{byte(rng.Uint32() >> rng.IntN(9)), byte(rng.Uint32())}[:1+rng.IntN(2)])
		want := base58.CheckEncode(append([]byte(prefix[1:]), payload...), prefix[0])
		if got := encodeBase58(prefix, payload); got != want {
			t.Fatalf("%x %x: %s, expected %s", prefix, payload, got, want)
		}
		if len(payload) < 2 || len(payload) > 40 {
			continue
		}
		hrp, version := []string{"bc", "tb", "bcrt", "ltc"}[rng.IntN(4)], byte(rng.IntN(17))
		groups, err := bech32.ConvertBits(payload, 8, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		encode := bech32.EncodeM
		if version == 0 {
			encode = bech32.Encode
		}
		if want, err = encode(hrp, append([]byte{version}, groups...)); err != nil {
			t.Fatal(err)
		}
		if got := encodeSegwit(hrp, version, payload); got != want {
			t.Fatalf("round %d: %s %d %x: %s, expected %s", round, hrp, version, payload, got, want)
		}
	}
}

// BenchmarkFormatAddress formats addresses of three types.
func BenchmarkFormatAddress(b *testing.B) {
	program := make([]byte, 32)
	for i := range program {
		program[i] = byte(17 * i)
	}
	b.ReportAllocs()
	for b.Loop() {
		encodeBase58("\x00", program[:20])
		encodeSegwit("bc", 0, program[:20])
		encodeSegwit("bc", 1, program)
	}
}
