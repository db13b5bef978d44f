package sigma

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The emission box of mainnet.
const emissionTree = "101004020e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192a39a8cc7a7017300730110010204020404040004c0fd4f05808c82f5f6030580b8c9e5ae040580f882ad16040204c0944004c0f407040004000580f882ad16d19683030191a38cc7a7019683020193c2b2a57300007473017302830108cdeeac93a38cc7b2a573030001978302019683040193b1a5730493c2a7c2b2a573050093958fa3730673079973089c73097e9a730a9d99a3730b730c0599c1a7c1b2a5730d00938cc7b2a5730e0001a390c1a7730f"

func TestGenesisBoxHasItsID(t *testing.T) {
	b := Box{Value: 93_409_132_500_000_000, Tree: unhex(t, emissionTree)}
	if id := b.ID(&ID{}, 0); hex.EncodeToString(id[:]) != "b69575e11c5c43400bfead5976ee0d6245a1168396b2e2a4f384691f275d501c" {
		t.Errorf("the emission box has the id %x", id)
	}
}

// The first transaction of mainnet: its id and its boxes.
func TestFirstTransactionHasItsIDs(t *testing.T) {
	emission := unhex(t, emissionTree)
	reward := unhex(t, "100204a00b08cd03be7ad70c74f691345cbedba19f4844e7fc514e1188a7929f5ae261d5bb00bb66ea02d192a39a8cc7a70173007301")
	tx := Tx{
		Inputs: []Input{{Box: ID(unhex(t, "b69575e11c5c43400bfead5976ee0d6245a1168396b2e2a4f384691f275d501c"))}},
		Outputs: []Box{
			{Value: 93_409_065_000_000_000, Tree: emission, Height: 1},
			{Value: 67_500_000_000, Tree: reward, Height: 1},
		},
	}
	var e Encoder
	id := e.TxID(&tx)
	if hex.EncodeToString(id[:]) != "4c6282be413c6e300a530618b37790be5f286ded758accc2aebd41554a1be308" {
		t.Errorf("the transaction has the id %x", id)
	}
	for i, want := range []string{
		"71bc9534d4a4fe8ff67698a5d0f29782836970635de8418da39fee1cd964fcbe",
		"45dc27302332bcb93604ae63c0a543894b38af31e6aebdb40291e3e8ecaef031",
	} {
		if box := e.BoxID(&tx.Outputs[i], &id, i); hex.EncodeToString(box[:]) != want {
			t.Errorf("output %d has the id %x", i, box)
		}
	}
	witness := e.WitnessID(&tx)
	if root := TransactionsRoot(1, []ID{id}, [][31]byte{witness}); hex.EncodeToString(root[:]) != "93fb06aa44413ff57ac878fda9377207d5db0e78833556b331b4d9727b3153ba" {
		t.Errorf("the block's transactions have the root %x", root)
	}
}

// firstHeader is the header of mainnet's block 1, with the full solution of version 1.
func firstHeader(t testing.TB) *Header {
	h := &Header{
		Version:   1,
		Timestamp: 1561978977137, NBits: 100734821, Height: 1,
	}
	for dst, digits := range map[*ID]string{
		&h.ADProofsRoot:     "766ab7a313cd2fb66d135b0be6662aa02dfa8e5b17342c05a04396268df0bfbb",
		&h.TransactionsRoot: "93fb06aa44413ff57ac878fda9377207d5db0e78833556b331b4d9727b3153ba",
		&h.ExtensionRoot:    "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
	} {
		copy(dst[:], unhex(t, digits))
	}
	copy(h.StateRoot[:], unhex(t, "18b7a08878f2a7ee4389c5a1cece1e2724abe8b8adc8916240dd1bcac069177303"))
	copy(h.MinerKey[:], unhex(t, "03be7ad70c74f691345cbedba19f4844e7fc514e1188a7929f5ae261d5bb00bb66"))
	copy(h.W[:], unhex(t, "02da9385ac99014ddcffe88d2ac5f28ce817cd615f270a0a5eae58acfb9fd9f6a0"))
	copy(h.Nonce[:], unhex(t, "000000030151dc63"))
	d, _ := new(big.Int).SetString("46909460813884299753486408728361968139945651324239558400157099627", 10)
	h.D = d.Bytes()
	return h
}

func TestFirstHeaderHasItsID(t *testing.T) {
	h := firstHeader(t)
	if id := h.ID(); hex.EncodeToString(id[:]) != "b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b" {
		t.Errorf("the header has the id %x", id)
	}
	if d := h.Difficulty().String(); d != "1199990374400" {
		t.Errorf("its difficulty is %s", d)
	}
}

func TestHeadersAreReadBack(t *testing.T) {
	one := firstHeader(t)
	two := *one
	two.Version, two.W, two.D, two.Unparsed = 2, [PointSize]byte{}, nil, []byte{1, 2, 3}
	four := two
	four.Version, four.Unparsed = 4, nil
	for _, h := range []*Header{one, &two, &four} {
		raw := h.AppendTo(nil)
		back, err := ParseHeader(raw)
		if err != nil {
			t.Fatalf("version %d: %v", h.Version, err)
		}
		if !bytes.Equal(back.AppendTo(nil), raw) || back.Timestamp != h.Timestamp || !bytes.Equal(back.Unparsed, h.Unparsed) {
			t.Errorf("version %d is parsed as %+v", h.Version, back)
		}
		for n := range raw {
			if _, err := ParseHeader(raw[:n]); err == nil {
				t.Errorf("%d of %d bytes of a header of version %d are accepted", n, len(raw), h.Version)
			}
		}
		if _, err := ParseHeader(append(raw, 0)); err == nil || !strings.Contains(err.Error(), "1 bytes follow the header") {
			t.Errorf("a byte after a header: %v", err)
		}
	}
}

func TestDifficultyOfFewBytes(t *testing.T) {
	for bits, want := range map[uint32]string{
		0x01120000: "18", 0x02123400: "4660", 0x03123456: "1193046", 0x04123456: "305419776", 117846489: "1743657937928192", 34231296: "2644",
	} {
		if d := (&Header{NBits: bits}).Difficulty().String(); d != want {
			t.Errorf("%#x is %s, expected %s", bits, d, want)
		}
	}
}

// Each token is listed once, in the order of first use, for any number of tokens.
func TestTokensAreListedOnce(t *testing.T) {
	for _, n := range []int{0, 1, fewTokens, fewTokens + 1, 255} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		ids := make([]ID, n)
		for i := range ids {
			binary.BigEndian.PutUint64(ids[i][:], rng.Uint64())
		}
		var tx Tx
		for range 3 {
			var b Box
			for i := range ids {
				b.Tokens = append(b.Tokens, Token{ids[i], uint64(i) + 1}, Token{ids[0], 9})
			}
			if len(b.Tokens) > 255 {
				b.Tokens = b.Tokens[:255]
			}
			tx.Outputs = append(tx.Outputs, b)
		}
		var e Encoder
		e.TxID(&Tx{Outputs: []Box{{Tokens: []Token{{ID{1}, 1}}}}}) // the encoder must not depend on earlier transactions
		raw := e.AppendTx(nil, &tx, false)
		distinct := min(n, 128) // every second entry of 255 is the first token
		want := binary.AppendUvarint([]byte{0, 0}, uint64(distinct))
		for i := range distinct {
			want = append(want, ids[i][:]...)
		}
		if !bytes.HasPrefix(raw, want) {
			t.Fatalf("%d tokens: the list differs from that of %d", n, distinct)
		}
		raw = raw[len(want)+1+3:] // number of outputs; value, height and number of tokens of the first
		for _, token := range tx.Outputs[0].Tokens {
			place, k := binary.Uvarint(raw)
			raw = raw[k:]
			amount, k := binary.Uvarint(raw)
			raw = raw[k:]
			if ids[place] != token.ID || amount != token.Amount {
				t.Fatalf("%d tokens: entry %x of %d is written as %d of place %d", n, token.ID, token.Amount, amount, place)
			}
		}
	}
}

func TestProofsAreNoPartOfTheID(t *testing.T) {
	tx := Tx{Inputs: []Input{{Extension: []Variable{{ID: 7, Value: []byte{4, 2}}}}}, DataInputs: []ID{{5}}}
	var e Encoder
	bare, bytesOf := e.TxID(&tx), e.AppendTx(nil, &tx, true)
	witness := e.WitnessID(&tx)
	tx.Inputs[0].Proof = []byte{1, 2, 3}
	if e.TxID(&tx) != bare {
		t.Error("the proof changes the id")
	}
	if whole := e.AppendTx(nil, &tx, true); len(whole) != len(bytesOf)+3 || !bytes.Contains(whole, []byte{3, 1, 2, 3}) {
		t.Errorf("the transaction with its proof is %x", whole)
	}
	if e.WitnessID(&tx) == witness {
		t.Error("the proof does not change the witness id")
	}
	tx.Inputs[0].Extension[0].Value[1] = 3
	if e.TxID(&tx) == bare {
		t.Error("the context extension does not change the id")
	}
}

// merkle computes the root from the definition of the tree.
func merkle(nodes [][]byte) []byte {
	if len(nodes) == 1 {
		return nodes[0]
	}
	var above [][]byte
	for i := 0; i < len(nodes); i += 2 {
		pair := append([]byte{1}, bytes.Join(nodes[i:min(i+2, len(nodes))], nil)...)
		sum := blake2b.Sum256(pair)
		above = append(above, sum[:])
	}
	return merkle(above)
}

func TestMerkleRootMatchesDefinition(t *testing.T) {
	var leaves, nodes [][]byte
	for n := range 40 {
		leaf := bytes.Repeat([]byte{byte(n)}, n)
		leaves = append(leaves, leaf)
		sum := blake2b.Sum256(append([]byte{0}, leaf...))
		nodes = append(nodes, sum[:])
		want := merkle(nodes)
		if n == 0 {
			one := blake2b.Sum256(append([]byte{1}, nodes[0]...))
			want = one[:]
		}
		if got := MerkleRoot(leaves); !bytes.Equal(got[:], want) {
			t.Errorf("%d leaves have the root %x, expected %x", n+1, got, want)
		}
	}
}

func TestExtensionRootOfNoFields(t *testing.T) {
	if root := ExtensionRoot(nil); hex.EncodeToString(root[:]) != "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8" {
		t.Errorf("no fields have the root %x", root)
	}
}
