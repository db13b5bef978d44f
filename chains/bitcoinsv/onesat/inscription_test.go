package onesat_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoinsv/onesat"
	"birthmark/model"
)

// push appends a push of data.
func push(script, data []byte) []byte {
	switch n := len(data); {
	case n < 0x4c:
		script = append(script, byte(n))
	case n < 0x100:
		script = append(script, 0x4c, byte(n))
	case n < 0x10000:
		script = append(script, 0x4d, byte(n), byte(n>>8))
	default:
		script = append(script, 0x4e, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return append(script, data...)
}

// envelope returns the envelope of a file.
func envelope(kind, content string) []byte {
	script := append(push([]byte{0, 0x63}, []byte("ord")), 0x51)
	script = append(push(script, []byte(kind)), 0)
	return append(push(script, []byte(content)), 0x68)
}

var lock = slices.Concat([]byte{0x76, 0xa9, 20}, make([]byte, 20), []byte{0x88, 0xac})

// The envelope is read before and after the lock, with all forms of tags, and damaged.
func TestInscriptions(t *testing.T) {
	whole := envelope("text/plain", "hello")
	parent := bytes.Repeat([]byte{7}, 36)
	withParent := slices.Concat([]byte{0, 0x63, 3}, []byte("ord"), []byte{1, 3}, push(nil, parent), []byte{1, 1}, push(nil, []byte("a/b")), []byte{0, 1, 'x', 0x68})
	for name, c := range map[string]struct {
		script []byte
		want   *onesat.Inscription
	}{
		"before the lock": {slices.Concat(whole, lock), &onesat.Inscription{Type: "text/plain", Content: []byte("hello"), Prefix: []byte{}, Suffix: lock}},
		"after the lock":  {slices.Concat(lock, whole), &onesat.Inscription{Type: "text/plain", Content: []byte("hello"), Prefix: lock, Suffix: []byte{}}},
		"with a parent":   {withParent, &onesat.Inscription{Type: "a/b", Content: []byte("x"), Parent: parent, Prefix: []byte{}, Suffix: []byte{}}},
		"no end":          {whole[:len(whole)-1], &onesat.Inscription{Type: "text/plain", Content: []byte("hello"), Prefix: []byte{}}},
		"no content":      {whole[:len(whole)-7], &onesat.Inscription{Type: "text/plain", Prefix: []byte{}}},
		"a type that is not UTF-8": {
			envelope("\xff", "x"), &onesat.Inscription{Content: []byte("x"), Prefix: []byte{}, Suffix: []byte{}}},
		"a type of 256 bytes": {
			envelope(strings.Repeat("a", 256), "x"), &onesat.Inscription{Content: []byte("x"), Prefix: []byte{}, Suffix: []byte{}}},
		"a second one after an operation": {
			slices.Concat(whole[:len(whole)-1], []byte{0x75}, envelope("b", "c")),
			&onesat.Inscription{Type: "b", Content: []byte("c"), Prefix: slices.Concat(whole[:len(whole)-1], []byte{0x75}), Suffix: []byte{}}},
		"the first of two":    {slices.Concat(whole, envelope("b", "c")), &onesat.Inscription{Type: "text/plain", Content: []byte("hello"), Prefix: []byte{}, Suffix: envelope("b", "c")}},
		"none":                {lock, nil},
		"no OP_IF":            {push([]byte{0, 0x64}, []byte("ord")), nil},
		"cut off before":      {append([]byte{0x4c, 200}, whole...), nil},
		"inside another push": {push(nil, whole), nil},
		"empty":               {nil, nil},
	} {
		got := onesat.ReadInscription(c.script)
		if (got == nil) != (c.want == nil) {
			t.Errorf("%s: %+v, expected %+v", name, got, c.want)
			continue
		}
		if got == nil {
			continue
		}
		if got.Type != c.want.Type || !bytes.Equal(got.Content, c.want.Content) || !bytes.Equal(got.Parent, c.want.Parent) ||
			!bytes.Equal(got.Prefix, c.want.Prefix) || !bytes.Equal(got.Suffix, c.want.Suffix) || (got.Suffix == nil) != (c.want.Suffix == nil) {
			t.Errorf("%s: %+v, expected %+v", name, got, c.want)
		}
	}
}

// An operation has at most 1 MiB of JSON.
func TestTheSizeOfAnOperationIsLimited(t *testing.T) {
	of := func(size int) *onesat.TokenOp {
		text := `{"p":"bsv-20","op":"deploy+mint","amt":"5","x":""}`
		text = strings.Replace(text, `""`, `"`+strings.Repeat("a", size-len(text))+`"`, 1)
		return onesat.ReadToken(onesat.ReadInscription(envelope("application/bsv-20", text)))
	}
	if got := of(1 << 20); got == nil || got.Amount != 5 {
		t.Errorf("1 MiB: %+v", got)
	}
	if got := of(1<<20 + 1); got != nil {
		t.Errorf("a byte more: %+v", got)
	}
}

const someID = "ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127_0"

// Valid and invalid texts of BSV-21.
func TestTokenTexts(t *testing.T) {
	of, _ := onesat.ParseOutpoint(someID)
	for text, want := range map[string]*onesat.TokenOp{
		`{"p":"bsv-20","op":"deploy+mint","amt":"5"}`: {Op: onesat.DeployMint, Amount: 5},
		`{"p":"bsv-20","op":"Deploy+Mint","amt":"18446744073709551615","sym":"A","dec":"18","icon":"_1"}`: {
			Op: onesat.DeployMint, Amount: 1<<64 - 1, Token: onesat.Token{Symbol: "A", Icon: "_1", Decimals: 18}},
		`{"p":"bsv-20","op":"deploy+auth","sym":"A"}`:                          {Op: onesat.DeployAuth, Token: onesat.Token{Symbol: "A"}},
		`{"p":"bsv-20","op":"transfer","id":"` + someID + `","amt":"0"}`:       {Op: onesat.Transfer, Of: of},
		`{"p":"bsv-20","op":"mint","id":"` + someID + `","amt":"7","dec":"1"}`: {Op: onesat.Mint, Of: of, Amount: 7},
		`{"p":"bsv-20","op":"burn","id":"` + someID + `","amt":"7"}`:           {Op: onesat.Burn, Of: of, Amount: 7},
		`{"p":"bsv-20","op":"auth","id":"` + someID + `"}`:                     {Op: onesat.Auth, Of: of},

		`{"p":"bsv-20","op":"auth","id":"` + someID + `","amt":"1"}`:                      nil,
		`{"p":"bsv-20","op":"deploy+auth","amt":"1"}`:                                     nil,
		`{"p":"bsv-20","op":"deploy+mint"}`:                                               nil,
		`{"p":"bsv-20","op":"deploy+mint","amt":5}`:                                       nil,
		`{"p":"bsv-20","op":"deploy+mint","amt":"-5"}`:                                    nil,
		`{"p":"bsv-20","op":"deploy+mint","amt":"1.5"}`:                                   nil,
		`{"p":"bsv-20","op":"deploy+mint","amt":"18446744073709551616"}`:                  nil,
		`{"p":"bsv-20","op":"deploy+mint","amt":"5","dec":"19"}`:                          nil,
		`{"p":"bsv-20","op":"deploy+mint","amt":"5","dec":2}`:                             nil,
		`{"p":"bsv-20","op":"deploy+mint","amt":"5","sym":7}`:                             nil,
		`{"p":"brc-20","op":"deploy+mint","amt":"5"}`:                                     nil,
		`{"p":"bsv-20","op":"deploy","amt":"5"}`:                                          nil,
		`{"p":"bsv-20","op":7,"amt":"5"}`:                                                 nil,
		`{"p":"bsv-20","amt":"5"}`:                                                        nil,
		`{"p":"bsv-20","op":"transfer","amt":"5"}`:                                        nil,
		`{"p":"bsv-20","op":"transfer","id":"x","amt":"5"}`:                               nil,
		`{"p":"bsv-20","op":"transfer","id":"` + someID + `0x","amt":"5"}`:                nil,
		`{"p":"bsv-20","op":"transfer","id":"` + strings.ToUpper(someID) + `","amt":"5"}`: nil,
		`{"p":"bsv-20","op":"transfer","id":"` + someID[:65] + `00","amt":"5"}`:           nil,
		`[]`: nil, `null`: nil, ``: nil, `{`: nil,
	} {
		got := onesat.ReadToken(onesat.ReadInscription(envelope("application/bsv-20", text)))
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v, expected %+v", text, got, want)
		}
		if onesat.ReadToken(onesat.ReadInscription(envelope("text/plain", text))) != nil {
			t.Errorf("%s: read from a text", text)
		}
	}
}

// Transactions of the main network (MNEE), from the tests of b-open-io/go-templates.
func TestRealTokens(t *testing.T) {
	of, _ := onesat.ParseOutpoint(someID)
	for id, want := range map[string][]onesat.OutputOp{
		"ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127": {{Output: 0, TokenOp: &onesat.TokenOp{
			Op: onesat.DeployMint, Amount: 18446744073709500000, Token: onesat.Token{
				Symbol: "MNEE", Decimals: 5, Icon: "9c7f7f1788c6382d5ac737a4052334cf150b52d1e46c484ecfb1d6e00184f263_0"},
		}}},
		"f7ca34a9c0319bfb837a56ee7375e8246229f5fefbdaaaf9fdec97493d428bee": {
			{Output: 0, TokenOp: &onesat.TokenOp{Op: onesat.Transfer, Of: of, Amount: 10000000}},
			{Output: 1, TokenOp: &onesat.TokenOp{Op: onesat.Transfer, Of: of, Amount: 18446744073699500000}},
		},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", id+".hex"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		var tx wire.MsgTx
		if err := tx.DeserializeNoWitness(bytes.NewReader(raw)); err != nil || tx.TxHash().String() != id {
			t.Fatalf("%s: %v, %v", id, tx.TxHash(), err)
		}
		m, _ := onesat.Rules{}.MessageOf(len(tx.TxOut), func(i int) (uint64, []byte) {
			return uint64(tx.TxOut[i].Value), tx.TxOut[i].PkScript
		}).(*onesat.Message)
		if m == nil || len(m.Tokens) != len(want) {
			t.Fatalf("%s: %+v", id, m)
		}
		for i, got := range m.Tokens {
			if got.Output != want[i].Output || *got.TokenOp != *want[i].TokenOp {
				t.Errorf("%s: %+v, expected %+v", id, got.TokenOp, want[i].TokenOp)
			}
		}
	}
}

// Formats are inverse to their parsers.
func TestIDs(t *testing.T) {
	o := onesat.NewOutpoint(model.Hash{1, 2, 3}, 70_000)
	for k, suffix := range map[onesat.Kind]string{onesat.TokenKind: "", onesat.OrdinalKind: ":origin", onesat.AuthorityKind: ":auth"} {
		text := strings.Repeat("00", 29) + "030201_70000" + suffix
		id := onesat.ID(o, k)
		if got := onesat.FormatID(id); got != text {
			t.Errorf("%s, expected %s", got, text)
		}
		if got, ok := onesat.ParseID(text); !ok || !bytes.Equal(got, id) {
			t.Errorf("%s: %x, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "_", "x_0", someID + ":", someID + ":x", someID + " ", someID[:64], someID[:65] + "-1", someID[:65] + "4294967296"} {
		if id, ok := onesat.ParseID(text); ok {
			t.Errorf("%q: %x", text, id)
		}
	}
	for _, id := range [][]byte{nil, make([]byte, 36), append(make([]byte, 36), 3), make([]byte, 38)} {
		if text := onesat.FormatID(id); text != "" {
			t.Errorf("%x: %s", id, text)
		}
	}
}

func FuzzInscriptions(f *testing.F) {
	f.Add(slices.Concat(envelope("application/bsv-20", `{"p":"bsv-20","op":"deploy+mint","amt":"5"}`), lock))
	f.Add(envelope("text/plain", "x")[:9])
	f.Fuzz(func(t *testing.T, script []byte) {
		in := onesat.ReadInscription(script)
		onesat.ReadToken(in)
		if in != nil && len(in.Prefix)+len(in.Content)+len(in.Suffix) > len(script) {
			t.Errorf("%x: %+v", script, in)
		}
	})
}

// Locks are read alone, beside inscriptions and before data.
func TestLocks(t *testing.T) {
	hash, other := lock[3:23], bytes.Repeat([]byte{9}, 33)
	in := envelope("a/b", "x")
	cosign := slices.Concat(lock[:24], []byte{0xad, 33}, other, []byte{0xac})
	data := []byte{0x6a, 1, 'x'}
	for name, c := range map[string]struct {
		script []byte
		want   *onesat.Lock
	}{
		"alone":               {lock, &onesat.Lock{Kind: onesat.PayKey, KeyHash: hash}},
		"after":               {slices.Concat(in, lock), &onesat.Lock{Kind: onesat.PayKey, KeyHash: hash}},
		"before":              {slices.Concat(lock, in), &onesat.Lock{Kind: onesat.PayKey, KeyHash: hash}},
		"before data":         {slices.Concat(in, lock, data), &onesat.Lock{Kind: onesat.PayKey, KeyHash: hash}},
		"alone before data":   {slices.Concat(lock, data), &onesat.Lock{Kind: onesat.PayKey, KeyHash: hash}},
		"a cosigner":          {cosign, &onesat.Lock{Kind: onesat.Cosign, KeyHash: hash, Cosigner: other}},
		"a cosigner after":    {slices.Concat(in, cosign), &onesat.Lock{Kind: onesat.Cosign, KeyHash: hash, Cosigner: other}},
		"another operation":   {slices.Concat(lock, []byte{0x75}), nil},
		"a cosigner, cut off": {cosign[:len(cosign)-1], nil},
		"data":                {slices.Concat([]byte{0}, data, lock), nil},
		"an inscription only": {in, nil},
		"nothing":             {nil, nil},
	} {
		got := onesat.ReadLock(c.script)
		if (got == nil) != (c.want == nil) || got != nil && (got.Kind != c.want.Kind || !bytes.Equal(got.KeyHash, c.want.KeyHash) ||
			!bytes.Equal(got.Cosigner, c.want.Cosigner)) {
			t.Errorf("%s: %+v, expected %+v", name, got, c.want)
		}
	}
}

// A transaction of the main network offers an ordinal (go-templates, template/ordlock/testdata).
func TestRealListing(t *testing.T) {
	id := "690b213114926cd5a6f0785cb3e289afe9cde195972c1d344569c90530b8cbd1"
	text, err := os.ReadFile(filepath.Join("testdata", id+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	var tx wire.MsgTx
	if err := tx.DeserializeNoWitness(bytes.NewReader(raw)); err != nil || tx.TxHash().String() != id {
		t.Fatal(tx.TxHash(), err)
	}
	script := tx.TxOut[0].PkScript
	l := onesat.ReadLock(script)
	if l == nil || l.Kind != onesat.Listing || len(l.KeyHash) != 20 || l.Price == 0 || uint64(l.Payout[0]) != l.Price&0xff {
		t.Fatalf("%+v", l)
	}
	for at := range script {
		cut := slices.Clone(script)
		if cut[at]++; at > len(script)-700 {
			if l := onesat.ReadLock(cut); l != nil && l.Kind == onesat.Listing {
				t.Fatalf("a contract with another byte at %d is a listing", at)
			}
		}
		onesat.ReadLock(script[:at])
	}
}

// Files and properties after OP_RETURN.
func TestData(t *testing.T) {
	b := func(parts ...string) (script []byte) {
		for _, p := range parts {
			script = append(script, push(nil, []byte(p))...)
		}
		return script
	}
	const mapName, fileName = "1PuQa7K62MiKCtssSLKy1kh56WWU7MtUR5", "19HxigV4QyBv3tHpQVcUEQyq1pzZVdoAut"
	script := slices.Concat(lock, []byte{0x6a}, b(fileName, "hi", "text/plain", "utf-8", "a.txt", "|", mapName, "SET", "app", "x", "na\x00me", "y", "odd"))
	d := onesat.ReadData(script)
	if len(d.Files) != 1 || string(d.Files[0].Content) != "hi" || d.Files[0].Type != "text/plain" || d.Files[0].Name != "a.txt" {
		t.Errorf("%+v", d.Files)
	}
	if len(d.Properties) != 1 || len(d.Properties[0]) != 2 || d.Properties[0]["app"] != "x" || d.Properties[0]["na me"] != "y" {
		t.Errorf("%+v", d.Properties)
	}
	for _, script := range [][]byte{nil, lock, {0x6a}, slices.Concat([]byte{0x6a}, b(mapName, "DEL", "app")), slices.Concat([]byte{0x6a}, b(fileName, "hi"))} {
		if d := onesat.ReadData(script); len(d.Files)+len(d.Properties) > 0 {
			t.Errorf("%x: %+v", script, d)
		}
	}
}

func FuzzLocks(f *testing.F) {
	f.Add(lock)
	f.Fuzz(func(t *testing.T, script []byte) {
		if l := onesat.ReadLock(script); l != nil && l.KeyHash != nil && len(l.KeyHash) != 20 {
			t.Errorf("%x: %+v", script, l)
		}
		onesat.ReadData(script)
	})
}
