package ord_test

import (
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/ratelimit"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core/meter"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// decodes mines a transaction that spends a new coin, and compares its decoded form with the expected one.
func (w *world) decodes(witness wire.TxWitness, want string, scripts ...[]byte) {
	w.Helper()
	outputs := []*wire.TxOut{out(700, payKeyHash)}
	for _, script := range scripts {
		outputs = append(outputs, out(0, script))
	}
	tx := bitcointest.Spend(w.coin(), 0, outputs...)
	tx.TxIn[0].Witness = witness
	w.chain.Mine(tx)
	w.sync()
	w.expect("decode/"+tx.TxHash().String(), "", want)
}

func TestMessagesAreDecoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	message := func(want string, scripts ...[]byte) {
		t.Helper()
		w.decodes(nil, `{"inscriptions":[],"runestone":`+want+`}`, scripts...)
	}
	stone := func(s runes.Runestone) []byte { return s.Script() }
	fields := func(payload string) []byte { return append([]byte{0x6a, 0x5d, byte(len(payload))}, payload...) }
	name, spacers, _ := runes.ParseSpaced("AAAAAA•AAAAAAAB")

	message("null")
	message("null", []byte{0x6a, 1, 7})
	message(`{"Runestone":{"edicts":[],"etching":null,"mint":null,"pointer":null}}`, fields(""))
	message(`{"Runestone":{"edicts":[{"id":"0:0","amount":340282366920938463463374607431768211455,"output":2},{"id":"7:3","amount":0,"output":0}],`+
		`"etching":null,"mint":"840000:1","pointer":1}}`, stone(runes.Runestone{
		Mint: runes.Some(runes.ID{Block: 840_000, Tx: 1}), Pointer: runes.Some(uint32(1)),
		Edicts: []runes.Edict{{Amount: model.MaxUint128, Output: 2}, {ID: runes.ID{Block: 7, Tx: 3}}},
	}))
	etching := runes.Etching{
		Name: runes.Some(name), Spacers: spacers, Symbol: runes.Some('¤'), Divisibility: 2, Premine: model.Uint128Of(5), Turbo: true,
		Terms: runes.Some(runes.Terms{
			Amount: runes.Some(model.Uint128Of(10)), Height: runes.Range{Start: runes.Some(uint64(1))}, Offset: runes.Range{End: runes.Some(uint64(9))},
		}),
	}
	message(`{"Runestone":{"edicts":[],"etching":{"divisibility":2,"premine":5,"rune":"AAAAAAAAAAAAAB","spacers":32,"symbol":"¤",`+
		`"terms":{"amount":10,"cap":null,"height":[1,null],"offset":[null,9]},"turbo":true},"mint":null,"pointer":null}}`,
		stone(runes.Runestone{Etching: &etching}))
	absent := `{"Runestone":{"edicts":[],"etching":{"divisibility":null,"premine":null,"rune":null,"spacers":null,"symbol":null,"terms":null,"turbo":false},` +
		`"mint":null,"pointer":null}}`
	message(absent, fields("\x02\x01"))
	message(strings.NewReplacer(`"divisibility":null`, `"divisibility":0`, `"premine":null`, `"premine":0`, `"spacers":null`, `"spacers":0`).Replace(absent),
		fields("\x02\x01\x01\x00\x03\x00\x06\x00")) // zeros are present
	message(absent, fields("\x02\x01\x01\x7f")) // too many decimals

	message(`{"Cenotaph":{"etching":null,"flaw":"opcode","mint":null}}`, []byte{0x6a, 0x5d, 0x6a})
	message(`{"Cenotaph":{"etching":null,"flaw":"varint","mint":null}}`, fields("\x80"))
	message(`{"Cenotaph":{"etching":"B","flaw":"unrecognized-even-tag","mint":"2:1"}}`, fields("\x02\x01\x04\x01\x14\x02\x14\x01\x7e\x00"))
}

func TestInscriptionsAreDecoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reveal := func(script string) wire.TxWitness { return wire.TxWitness{[]byte(script), {}} }
	inscription := func(changes ...string) string {
		return strings.NewReplacer(changes...).Replace(`{"input":0,"offset":0,"payload":{"body":null,"content_encoding":null,"content_type":null,` +
			`"delegate":null,"duplicate_field":false,"incomplete_field":false,"metadata":null,"metaprotocol":null,"parents":[],"pointer":null,` +
			`"properties":null,"property_encoding":null,"rune":null,"unrecognized_even_field":false},"pushnum":false,"stutter":false}`)
	}
	found := func(witness wire.TxWitness, list ...string) {
		t.Helper()
		w.decodes(witness, `{"inscriptions":[`+strings.Join(list, ",")+`],"runestone":null}`)
	}
	const begin, end = "\x00\x63\x03ord", "\x68"

	found(wire.TxWitness{[]byte(begin + end)})
	found(reveal(begin+end), inscription())
	found(wire.TxWitness{[]byte(begin + end), {}, {0x50}}, inscription()) // with an annex
	found(reveal(begin + end + "\x01"))                                   // the script is cut off
	found(reveal(begin+"\x01\x01\x03a/b\x00\x02ba\x01r"+end), inscription(`"body":null`, `"body":[98,97,114]`, `"content_type":null`, `"content_type":[97,47,98]`))
	found(reveal(begin+"\x00"+end), inscription(`"body":null`, `"body":[]`))
	found(reveal(begin+"\x51\x01a"+end), inscription(`"content_type":null`, `"content_type":[97]`, `"pushnum":false`, `"pushnum":true`))
	found(reveal("\x00"+begin+end+begin+"\x01\x07"+end), inscription(`"stutter":false`, `"stutter":true`),
		inscription(`"offset":0`, `"offset":1`, `"stutter":false`, `"stutter":true`, `"incomplete_field":false`, `"incomplete_field":true`))

	field := func(tag, value string) string { return "\x01" + tag + string(rune(len(value))) + value }
	found(reveal(begin+field("\x02", "\x01")+field("\x03", "p")+field("\x03", "q")+field("\x05", "m")+field("\x05", "n")+field("\x07", "x")+field("\x09", "br")+
		field("\x0b", "d")+field("\x0d", "r")+field("\x11", "s")+field("\x11", "t")+field("\x13", "e")+end),
		inscription(`"pointer":null`, `"pointer":[1]`, `"parents":[]`, `"parents":[[112],[113]]`, `"metadata":null`, `"metadata":[109,110]`,
			`"metaprotocol":null`, `"metaprotocol":[120]`, `"content_encoding":null`, `"content_encoding":[98,114]`, `"delegate":null`, `"delegate":[100]`,
			`"rune":null`, `"rune":[114]`, `"properties":null`, `"properties":[115,116]`, `"property_encoding":null`, `"property_encoding":[101]`,
			`"duplicate_field":false`, `"duplicate_field":true`))
	repeated := []string{`"pointer":null`, `"pointer":[1]`, `"duplicate_field":false`, `"duplicate_field":true`,
		`"unrecognized_even_field":false`, `"unrecognized_even_field":true`}
	found(reveal(begin+field("\x02", "\x01")+field("\x02", "\x02")+end), inscription(repeated...)) // the second one remains
	found(reveal(begin+field("\x42", "\x01")+end), inscription(repeated[4:]...))
	found(reveal(begin+field("\x43", "\x01")+end), inscription())

	part, list := "\x4d\x08\x02"+strings.Repeat("z", 520), strings.Repeat(",122", 520) // sent in parts
	found(reveal(begin+field("\x05", "m")+"\x00"+strings.Repeat(part, 300)+end),
		inscription(`"metadata":null`, `"metadata":[109]`, `"body":null`, `"body":[`+strings.Repeat(list, 300)[1:]+`]`))
}

func TestErrorsOfDecoding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.chain.MineEmpty(1)
	w.sync()
	unknown := strings.Repeat("ab", 32)
	w.refuses("decode/"+unknown, "", http.StatusNotFound, "transaction "+unknown+" not found")
	w.refuses("decode/x", "", http.StatusBadRequest, "invalid transaction id")

	// ord's wallet sends the inscriptions of its outputs, of which there are none.
	id := unknown + "i0"
	w.expect("inscriptions", "[]", "[]")
	w.refuses("inscriptions", `["`+id+`"]`, http.StatusNotFound, "inscription "+id+" not found")
	w.expect("missing", `["`+id+`"]`, `["`+id+`"]`)
	w.expect("missing", `[]`, `[]`)
	for _, path := range []string{"inscriptions", "missing"} {
		w.refuses(path, `{}`, http.StatusBadRequest, "invalid body")
		w.refuses(path, `["`+unknown+`"]`, http.StatusBadRequest, "invalid inscription")
	}
}

func TestSearchesRedirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name, spacers, _ := runes.ParseSpaced("AAAAAA•AAAAAAAB")
	etching := w.etch(&runes.Runestone{Etching: &runes.Etching{Name: runes.Some(name), Spacers: spacers}})
	id := runes.ID{Block: uint64(w.chain.Height()), Tx: 1}
	w.sync()
	tx, unknown := etching.TxHash().String(), strings.Repeat("ab", 32)
	address := w.address(payKeyHash)
	for text, want := range map[string]string{
		w.chain.Tip().BlockHash().String(): "block/" + w.chain.Tip().BlockHash().String(),
		tx:                                 "tx/" + tx,
		unknown:                            "tx/" + unknown,
		tx + ":1":                          "output/" + tx + ":1",
		tx + ":1:0":                        "satpoint/" + tx + ":1:0",
		tx + "i0":                          "inscription/" + tx + "i0",
		"-7":                               "inscription/-7",
		"AAAAAA•AAAAAAAB":                  "rune/AAAAAA%E2%80%A2AAAAAAAB",
		"A.B":                              "rune/A.B",
		id.String():                        "rune/AAAAAAAAAAAAAB",
		address:                            "address/" + address,
		"nvtdijuwxlp":                      "sat/nvtdijuwxlp",
		" 0.5/a?b ":                        "sat/0.5%2Fa%3Fb",
	} {
		for _, path := range []string{"search?query=" + escape(text), "search/" + escape(text)} {
			r := httptest.NewRequest(http.MethodGet, "/ord/"+path, nil).WithContext(w.Context())
			rec := httptest.NewRecorder()
			w.ServeHTTP(rec, r)
			if got := rec.Header().Get("Location"); rec.Code != http.StatusSeeOther || got != "/ord/"+want || rec.Body.Len() > 0 {
				t.Errorf("%s: %d %s %s, expected /ord/%s", path, rec.Code, got, rec.Body, want)
			}
		}
	}
	w.refuses("search/99:1", "", http.StatusNotFound, "rune ID not found")
	w.refuses("search/999999999999999999999:1", "", http.StatusBadRequest, "invalid rune ID")
}

// escape percent-encodes all bytes.
func escape(text string) (to string) {
	for _, b := range []byte(text) {
		to += "%" + hex.EncodeToString([]byte{b})
	}
	return to
}

// A transaction of nearly 4 MB is decoded within the memory that its answer holds, or refused before it takes more.
func TestDecodingHoldsItsMemory(t *testing.T) {
	w := newWorld(t)
	const size, begin, end = 3_900_000, "\x00\x63\x03ord", "\x68"
	many := func(part string) string { return strings.Repeat(part, size/len(part)) }
	var tags strings.Builder
	for i := range size / 5 {
		tags.Write([]byte{3, byte(i >> 16), byte(i >> 8), byte(i), 0})
	}
	message := append([]byte{0x6a, 0x5d, 0x4e}, binary.LittleEndian.AppendUint32(nil, 3_900_001)...)
	message = append(message, "\x00"+many("\x01\x00\x01\x00")...) // each edict is of the next block
	large := map[string]*wire.MsgTx{}
	for name, script := range map[string]string{
		"a body":       begin + "\x00" + many("\x4d\x08\x02"+strings.Repeat("z", 520)) + end,
		"metadata":     begin + many("\x01\x05\x01x") + end,
		"inscriptions": many(begin + end),
		"parents":      begin + many("\x01\x03\x00") + end,
		"tags":         begin + tags.String() + end,
		"edicts":       "",
	} {
		outputs := []*wire.TxOut{out(700, payKeyHash)}
		if script == "" {
			outputs = append(outputs, out(0, message))
		}
		tx := bitcointest.Spend(w.coin(), 0, outputs...)
		if script != "" {
			tx.TxIn[0].Witness = wire.TxWitness{[]byte(script), {}}
		}
		w.chain.Mine(tx)
		large[name] = tx
	}
	w.sync()
	for name, tx := range large {
		for _, c := range []struct {
			memory int64
			status int
		}{
			{1 << 30, http.StatusOK},
			{24 << 20, map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[name == "a body" || name == "metadata" || name == "inscriptions"]},
		} {
			o := ratelimit.Defaults()
			o.Timeout, o.Rate.PerSecond = 0, 0 // the memory counts, on a slow machine too
			o.Memory = meter.NewBudget(c.memory)
			r := httptest.NewRequest(http.MethodGet, "/ord/decode/"+tx.TxHash().String(), nil)
			r.Header.Set("Accept", "application/json")
			r.RemoteAddr = "192.0.2.1:1"
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			counted := &counter{ResponseRecorder: httptest.NewRecorder()}
			ratelimit.New(o, w).ServeHTTP(counted, r)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%s, %d MiB: %d, %d bytes, %d MiB allocated", name, c.memory>>20, counted.Code, counted.n, allocated>>20)
			if c.status != http.StatusOK && allocated > 96<<20 {
				t.Errorf("%s, %d bytes: %d bytes are allocated before the answer is refused", name, c.memory, allocated)
			}
			if used := o.Memory.Used(); used != 0 {
				t.Errorf("%s: %d bytes are held after the answer", name, used)
			}
			if counted.Code != c.status {
				t.Errorf("%s, %d bytes: %d %.300s", name, c.memory, counted.Code, counted.Body)
			}
		}
	}
}

// counter counts the bytes of an answer and keeps the first part of it.
type counter struct {
	*httptest.ResponseRecorder
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	if c.n += len(b); c.n < 1<<20 {
		return c.ResponseRecorder.Write(b)
	}
	return len(b), nil
}
