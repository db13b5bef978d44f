package ergo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

func TestBlockHasTheValuesOfItsJSON(t *testing.T) {
	for version := byte(1); version <= 4; version++ {
		tx := aTx()
		b := decoded(t, handmade(t, version, tx), indexAddress, indexBoxID, indexRegister, indexTemplateHash, indexTreeHash)
		if b.Height != 77 || b.Time != 1_700_000_000 || b.Size != 1234 || b.Parent != (model.Hash{1}) || b.Hash != model.Hash(sigma.HeaderID(b.Header)) {
			t.Errorf("version %d: %+v", version, b)
		}
		if len(b.Txs) != 1 {
			t.Fatalf("%d transactions", len(b.Txs))
		}
		var e sigma.Encoder
		id := e.TxID(&tx)
		got := &b.Txs[0]
		if got.Hash != model.Hash(id) || got.Fee != (model.Fee{Stated: true}) || len(got.Mints) != 0 {
			t.Errorf("transaction %+v", got)
		}
		if len(got.Inputs) != 2 || !bytes.Equal(got.Inputs[0].Value, tx.Inputs[0].Box[:]) || !bytes.Equal(got.Inputs[1].Value, tx.Inputs[1].Box[:]) {
			t.Errorf("inputs %+v", got.Inputs)
		}
		if len(got.Outputs) != 2 {
			t.Fatalf("%d outputs", len(got.Outputs))
		}
		first, second := got.Outputs[0], got.Outputs[1]
		if first.Value != 5 || second.Value != 1<<63-1 {
			t.Errorf("values %d and %d", first.Value, second.Value)
		}
		var want []model.Asset
		for _, token := range tx.Outputs[0].Tokens {
			want = append(want, model.Asset{ID: bytes.Clone(token.ID[:]), Amount: token.Amount})
		}
		if !reflect.DeepEqual(first.Assets, want) || len(second.Assets) != 0 {
			t.Errorf("assets %v and %v", first.Assets, second.Assets)
		}
		names := []string{indexAddress, indexBoxID, indexRegister, indexTemplateHash, indexTreeHash}
		box := tx.Outputs[0].ID(&id, 0)
		if keys := written(names, first.Keys); !slices.Equal(keys, []string{
			"address=" + formatAddress(networks[0], append([]byte{typeP2PK}, aTree[3:]...)), "box_id=" + hexOf(box),
			"ergo_tree_template_hash=" + sha256Hex(aTree[1:]), "ergo_tree_hash=" + blake2bHex(aTree),
		}) {
			t.Errorf("keys %q", keys)
		}
		box = tx.Outputs[1].ID(&id, 1)
		if keys := written(names, second.Keys); !slices.Equal(keys, []string{
			"address=4MQyML64GnzMxZgm", "box_id=" + hexOf(box), "register=R4:0e0141", "register=R5:0402",
			"ergo_tree_template_hash=" + sha256Hex([]byte{0xd1, 0x73, 0}), "ergo_tree_hash=" + blake2bHex(tx.Outputs[1].Tree),
		}) {
			t.Errorf("keys %q", keys)
		}
	}
}

// written returns formatted keys.
func written(names []string, keys []model.Key) (texts []string) {
	for _, k := range keys {
		for _, x := range networks[0].indexes() {
			if x.Name == names[k.Index] {
				texts = append(texts, x.Name+"="+x.Format(k.Value))
			}
		}
	}
	return texts
}

func TestHeaderFieldsInJSON(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	for version := byte(1); version <= 4; version++ {
		b := decoded(t, handmade(t, version, aTx()))
		h, err := c.Header(b.Header)
		if err != nil {
			t.Fatal(err)
		}
		got := h.(*Header)
		if got.Version != version || got.Difficulty != "1743657937928192" || got.NBits != 117846489 || got.Votes != "040300" || got.Timestamp != 1_700_000_000_123 ||
			!strings.HasPrefix(got.MinerPk, "020900") || got.Nonce != "0700000000000000" || len(got.ExtensionRoot) != 64 || len(got.StateRoot) != 66 ||
			!strings.HasPrefix(got.AdProofsRoot, "0200") || len(got.TransactionsRoot) != 64 {
			t.Errorf("version %d: %+v", version, got)
		}
		hash, err := c.(model.HeaderHasher).HashHeader(b.Header)
		if err != nil || hash != b.Hash {
			t.Errorf("version %d: hash %s and %v, expected %s", version, hash, err, b.Hash)
		}
		if _, err := c.Header(b.Header[:40]); err == nil {
			t.Error("40 bytes are accepted as a header")
		}
	}
}

// The format of the JSON does not change the block.
func TestWhiteSpaceAndOrderOfJSONDoNotMatter(t *testing.T) {
	block := handmade(t, 4, aTx(), sigma.Tx{Inputs: []sigma.Input{{Box: sigma.ID{30}}}, Outputs: []sigma.Box{{Tree: []byte{0xff}, Registers: [][]byte{{4, 2}}}}})
	want := decoded(t, block, valueNames...)
	same := func(name string, raw []byte) {
		t.Helper()
		got, err := decoderOf(t, valueNames...).block(raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the block differs", name)
		}
	}
	raw := jsonOf(t, block)
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "\r\n", " \t"); err != nil {
		t.Fatal(err)
	}
	same("indented", indented.Bytes())
	same("escapes", []byte(strings.NewReplacer(`"boxId":`, `"box\u0049d":`, `"headerId"`, `"header\u0049d"`, `"id":"`, `"\u0069d":"`).Replace(string(raw))))
	same("escapes in digits", []byte(strings.Replace(string(raw), `"votes":"04`, `"votes":"\u0030\u0034`, 1)))
	same("unknown members", []byte(strings.ReplaceAll(string(raw), `"boxId"`, `"x":{"a":[1,-2.5e+7,true,false,null,"]}\\\"",{}]},"boxId"`)))
	same("numbers in quotes", []byte(strings.NewReplacer(`"value":5,`, `"value":"5",`, `"d":256`, `"d":"256"`).Replace(string(raw))))
	for _, d := range []string{"2.56E+2", "2.56e2", "25600E-2", "256.0", `"256"`, "0.256E3"} {
		same("d "+d, []byte(strings.Replace(string(raw), `"d":256`, `"d":`+d, 1)))
	}
	same("a value with an exponent", []byte(strings.Replace(string(raw), `"value":5`, `"value":5.0E0`, 1)))
	same("what is not needed is missing", []byte(strings.NewReplacer(`"index":0,`, ``, `"index":1,`, ``, `"difficulty":"1743657937928192",`, ``, `"adProofs":null,`, ``).Replace(string(raw))))

	backwards := bytes.Buffer{}
	writeBackwards(t, &backwards, raw)
	same("members the other way round", backwards.Bytes())

	old := strings.NewReplacer(`"R4":"0e0141"`, `"R4":{"serializedValue":"0e0141","sigmaType":"Coll[SByte]","renderedValue":"41"}`, `"proofBytes":""`, `"proofBytes":null`).Replace(string(raw))
	same("registers as objects", []byte(old))
}

// writeBackwards writes JSON with the members of all objects, except context extensions, in reverse order of their
// names.
func writeBackwards(t *testing.T, w *bytes.Buffer, raw []byte) {
	t.Helper()
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	switch raw[0] {
	case '{':
		if err := json.Unmarshal(raw, &members); err != nil {
			t.Fatal(err)
		}
		names := make([]string, 0, len(members))
		for name := range members {
			names = append(names, name)
		}
		slices.Sort(names)
		if !strings.ContainsAny(fmt.Sprint(names), "17") {
			slices.Reverse(names)
		}
		for i, name := range names {
			w.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			fmt.Fprintf(w, "%q:", name)
			writeBackwards(t, w, members[name])
		}
		if len(names) == 0 {
			w.WriteByte('{')
		}
		w.WriteByte('}')
	case '[':
		if err := json.Unmarshal(raw, &elements); err != nil {
			t.Fatal(err)
		}
		w.WriteByte('[')
		for i, e := range elements {
			if i > 0 {
				w.WriteByte(',')
			}
			writeBackwards(t, w, e)
		}
		w.WriteByte(']')
	default:
		w.Write(raw)
	}
}

// The members of a JSON object have no order, so programs that forward a block may reorder the variables.
func TestOrderOfVariablesIsRestored(t *testing.T) {
	tx := aTx()
	block := handmade(t, 2, tx)
	raw := jsonOf(t, block)
	swapped := bytes.Replace(raw, []byte(`"1":"0402","7":"0e0141"`), []byte(`"7":"0e0141","1":"0402"`), 1)
	if bytes.Equal(raw, swapped) {
		t.Fatal("the variables are not at the expected position")
	}
	if _, err := decoderOf(t).block(swapped); err != nil {
		t.Error(err)
	}
	// The ids may also be computed from variables that are not sorted by number.
	tx.Inputs[0].Extension[0], tx.Inputs[0].Extension[1] = tx.Inputs[0].Extension[1], tx.Inputs[0].Extension[0]
	raw = bytes.Replace(jsonOf(t, handmade(t, 2, tx)), []byte(`"1":"0402","7":"0e0141"`), []byte(`"7":"0e0141","1":"0402"`), 1)
	if _, err := decoderOf(t).block(raw); err != nil {
		t.Error(err)
	}
}

// A token that is minted has the id of the first spent box, in any of the outputs.
func TestMintsAreSummedOverTheOutputs(t *testing.T) {
	first, second := sigma.ID{10}, sigma.ID{11}
	tx := sigma.Tx{
		Inputs: []sigma.Input{{Box: first}, {Box: second}},
		Outputs: []sigma.Box{
			{Tree: aTree, Tokens: []sigma.Token{{ID: second, Amount: 9}}},
			{Tree: aTree, Tokens: []sigma.Token{{ID: first, Amount: 0}}, Registers: [][]byte{{0x0e, 1, 'x'}}},
			{Tree: aTree, Tokens: []sigma.Token{{ID: first, Amount: 1<<63 - 1}, {ID: second, Amount: 1}, {ID: first, Amount: 5}},
				Registers: [][]byte{{0x0e, 3, 'S', 'i', 'g'}, {0x0e, 2, 0xc3, 0xa9}, {0x0e, 1, '2'}, {4, 2}}},
			{Tree: aTree, Tokens: []sigma.Token{{ID: first, Amount: 1<<63 - 1}}, Registers: [][]byte{{0x0e, 1, 'y'}}},
		},
	}
	b := decoded(t, handmade(t, 3, tx))
	mints := b.Txs[0].Mints
	want, _ := new(big.Int).SetString("18446744073709551619", 10)
	if len(mints) != 1 || !bytes.Equal(mints[0].Asset, first[:]) || mints[0].Amount.Cmp(want) != 0 {
		t.Fatalf("minted %+v", mints)
	}
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	a := c.(model.AssetDescriber).DescribeAsset(mints[0].Info)
	if a.Name != "Sig" || a.Description != "é" || a.Decimals == nil || *a.Decimals != 2 {
		t.Errorf("described as %+v", a)
	}
	// A token that is not minted, and a token with the id but without an amount, cause no mint.
	tx.Inputs[0].Box = sigma.ID{1}
	if mints := decoded(t, handmade(t, 3, tx)).Txs[0].Mints; mints != nil {
		t.Errorf("minted %+v", mints)
	}
	tx.Inputs[0].Box, tx.Outputs = first, tx.Outputs[:2]
	if mints := decoded(t, handmade(t, 3, tx)).Txs[0].Mints; mints != nil {
		t.Errorf("minted %+v without an amount", mints)
	}
}

func TestIndexesOfADecoder(t *testing.T) {
	for _, names := range [][]string{{"nothing"}, {indexAddress, indexAddress}} {
		_, err := newDecoder(newChain(networks[0]), names)
		if kind, code := model.KindOf(err); kind != model.Usage || code != "unknown_index" {
			t.Errorf("%v: %v", names, err)
		}
	}
	b := decoded(t, handmade(t, 2, aTx()))
	for _, o := range b.Txs[0].Outputs {
		if len(o.Keys) != 0 {
			t.Errorf("keys %v, expected none", o.Keys)
		}
	}
}

func digits(n int) string { return strings.Repeat("00", n) }

func TestErrorsOfInvalidBlocks(t *testing.T) {
	good := string(jsonOf(t, handmade(t, 2, aTx())))
	h := decoded(t, handmade(t, 2, aTx()))
	tx := hex.EncodeToString(h.Txs[0].Hash[:])
	blockName := "block 77 " + h.Hash.String()
	// If the JSON is invalid before the header, or the header is invalid, the error names no block.
	unnamed := []string{
		"no header", "null header", "missing pk", "missing nBits", "null", "comma before", "no comma", "no colon", "control character", "deep",
		"number for a block", "height 0", "great height", "word", "bad escape", "d",
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"transaction id":     {`"id":"` + tx, `"id":"ff` + tx[2:], "transaction 0 ff" + tx[2:] + ": its bytes have the id " + tx},
		"box id":             {`"boxId":"` + boxOf(1), `"boxId":"` + digits(32), "output 1: its boxId is " + digits(32) + ", its bytes have " + boxOf(1)},
		"box's transaction":  {`"transactionId":"` + tx, `"transactionId":"` + digits(32), "output 0: its transactionId is " + digits(32)},
		"box's index":        {`"index":1`, `"index":2`, "output 1: its index is 2"},
		"value":              {`"value":5`, `"value":6`, "its bytes have the id"},
		"register":           {`"R5":"0402"`, `"R5":"0404"`, "its bytes have the id"},
		"proof":              {`"proofBytes":"010203"`, `"proofBytes":"010204"`, "the header has the transactions root"},
		"extension":          {`["0001","07"]`, `["0001","08"]`, "the header has the extension root"},
		"timestamp":          {`"timestamp":17`, `"timestamp":18`, "the header has the id " + h.Hash.String() + ", its bytes have"},
		"unparsed":           {`"unparsedBytes":"ab"`, `"unparsedBytes":""`, "the header has the id"},
		"owner":              {`"blockVersion":2,"headerId":"` + h.Hash.String(), `"blockVersion":2,"headerId":"` + digits(32), "the transactions belong to block " + digits(32)},
		"amount":             {`9223372036854775807,"tokenId"`, `9223372036854775808,"tokenId"`, "amount of a token is 9223372036854775808, expected at most 9223372036854775807"},
		"huge amount":        {`9223372036854775807,"tokenId"`, `92233720368547758070,"tokenId"`, "amount of a token is 92233720368547758070: expected a whole number"},
		"negative value":     {`"value":5`, `"value":-5`, "value of a box is -5: expected a whole number"},
		"fraction":           {`"value":5`, `"value":5.5`, "value of a box is 5.5: expected a whole number"},
		"text for a number":  {`"value":5`, `"value":[]`, `unexpected '[', expected value of a box`},
		"empty text":         {`"value":5`, `"value":""`, "expected value of a box"},
		"odd digits":         {`"R5":"0402"`, `"R5":"040"`, `register is "040": expected an even number of hex digits`},
		"no digits":          {`"R5":"0402"`, `"R5":"04zz"`, `register is "04zz": expected an even number of hex digits`},
		"empty register":     {`"R5":"0402"`, `"R5":""`, `register has no bytes`},
		"gap":                {`"R5":"0402"`, `"R6":"0402"`, "register R6 is used and R5 is not"},
		"register 10":        {`"R5":"0402"`, `"R10":"0402"`, `register "R10": expected R4 to R9`},
		"register 3":         {`"R5":"0402"`, `"R3":"0402"`, `register "R3": expected R4 to R9`},
		"variable":           {`"7":"0e0141"`, `"x":"0e0141"`, `variable "x": expected a number of one byte`},
		"short id":           {`"boxId":"` + boxOf(1), `"boxId":"` + digits(31), `expected 64 hex digits`},
		"null for an id":     {`"boxId":"` + boxOf(1) + `"`, `"boxId":null`, `expected box id`},
		"missing id":         {`"boxId":"` + boxOf(1), `"boxIdd":"` + boxOf(1), "the box has no boxId"},
		"missing value":      {`"value":5`, `"valu":5`, "the box has no value"},
		"missing inputs":     {`"inputs":`, `"input":`, "the transaction has no inputs"},
		"missing pk":         {`"pk":`, `"p":`, "powSolutions has no pk"},
		"missing nBits":      {`"nBits":`, `"nbits":`, "the header has no nBits"},
		"no tree":            {`"ergoTree":"0008cd`, `"ergoTree":"","x":"`, "ergoTree of 0 bytes"},
		"no header":          {`"header":`, `"heade":`, "a block: missing header"},
		"null header":        {`"header":{`, `"header":null,"x":{`, "a block: missing header"},
		"no transactions":    {`"transactions":`, `"transaction":`, "missing blockTransactions"},
		"null":               {`{"adProofs":null`, `null{`, "unexpected null, expected a full block"},
		"trailing":           {`"size":1234}`, `"size":1234}}`, `unexpected '}', expected the end of the block`},
		"cut":                {`,"size":1234}`, ``, "unexpected end, expected a comma or the end of an object"},
		"comma":              {`"size":1234}`, `"size":1234,}`, `unexpected '}', expected an item`},
		"no comma":           {`"adProofs":null,`, `"adProofs":null `, `unexpected '"', expected a comma or the end of an object`},
		"no colon":           {`"adProofs":null`, `"adProofs" null`, `unexpected 'n', expected a colon`},
		"control character":  {`"adProofs":`, "\x01" + `"adProofs":`, "character 0x1 between values"},
		"word":               {`"adProofs":null`, `"adProofs":nul`, `unexpected 'n', expected a value`},
		"deep":               {`"adProofs":null`, `"adProofs":` + strings.Repeat("[", 300) + strings.Repeat("]", 300), "more than 200 nested objects and arrays"},
		"bad escape":         {`"adProofs":null`, `"adPr\xoofs":null`, "a member's name: invalid character"},
		"open escape":        {`"size":1234}`, `"size\`, "unexpected end, expected the end of a string"},
		"height 0":           {`"height":77`, `"height":0`, "height 0: the first block is 1"},
		"great height":       {`"height":77`, `"height":99000000`, "height 99000000 exceeds the maximum"},
		"field of three":     {`["0001","07"]`, `["0001","07","08"]`, "a field with more than a key and a value"},
		"field of one":       {`["0001","07"]`, `["0001"]`, "a field without key and value"},
		"d":                  {`"d":256`, `"d":2.565e2`, "d is 2.565e2: expected a whole number"},
		"no inputs":          {`"inputs":[`, `"inputs":[],"x":[`, "its bytes have the id"},
		"null output":        {`"outputs":[`, `"outputs":[null,`, "unexpected null, expected a box"},
		"null input":         {`"inputs":[`, `"inputs":[null,`, "unexpected null, expected an input"},
		"null data input":    {`"dataInputs":[`, `"dataInputs":[null,`, "unexpected null, expected a data input"},
		"null asset":         {`"assets":[{`, `"assets":[null,{`, "unexpected null, expected an asset"},
		"null transaction":   {`"transactions":[`, `"transactions":[null,`, "unexpected null, expected a transaction"},
		"number for a block": {`{"adProofs":null`, `7 {"x":0`, `unexpected '7', expected a full block`},
	} {
		t.Run(name, func(t *testing.T) {
			raw := strings.Replace(good, c.from, c.to, 1)
			if raw == good {
				t.Fatalf("the JSON lacks %s", c.from)
			}
			b, err := decoderOf(t, valueNames...).block([]byte(raw))
			if kind, code := model.KindOf(err); b != nil || kind != model.BadSource || code != "bad_block" {
				t.Fatalf("%v and %v", b, err)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: expected %s", err, c.want)
			}
			if !strings.HasPrefix(err.Error(), blockName+": ") && !slices.Contains(unnamed, name) {
				t.Errorf("%v: the error does not name the block", err)
			}
		})
	}
}

// boxOf returns the id of an output of aTx.
func boxOf(i int) string {
	var e sigma.Encoder
	tx := aTx()
	id := e.TxID(&tx)
	return hexOf(tx.Outputs[i].ID(&id, i))
}

func TestTruncatedJSONIsAnError(t *testing.T) {
	raw := jsonOf(t, handmade(t, 1, aTx()))
	d := decoderOf(t)
	for n := range raw {
		if _, err := d.block(raw[:n]); err == nil {
			t.Fatalf("%d of %d bytes are accepted as a block", n, len(raw))
		}
	}
	if _, err := d.block(raw); err != nil {
		t.Error(err)
	}
}

// A box stores the number of its tokens in one byte.
func TestTooManyTokens(t *testing.T) {
	tx := aTx()
	tx.Outputs[0].Tokens = make([]sigma.Token, 255)
	decoded(t, handmade(t, 2, tx))
	tx.Outputs[0].Tokens = make([]sigma.Token, 256)
	if _, err := decoderOf(t).block(jsonOf(t, handmade(t, 2, tx))); err == nil || !strings.Contains(err.Error(), "256 tokens in a box, the maximum is 255") {
		t.Error(err)
	}
	tx = aTx()
	tx.Outputs[0].Tree = make([]byte, model.MaxValueSize)
	if _, err := decoderOf(t).block(jsonOf(t, handmade(t, 2, tx))); err == nil || !strings.Contains(err.Error(), "ergoTree of 32768 bytes: expected 1 to 32767") {
		t.Error(err)
	}
	tx = aTx()
	tx.Outputs[1].Registers[1] = make([]byte, model.MaxValueSize)
	if _, err := decoderOf(t).block(jsonOf(t, handmade(t, 2, tx))); err == nil || !strings.Contains(err.Error(), "register R5 of 32768 bytes, the maximum is 32767") {
		t.Error(err)
	}
}

// A block of a later version is read if it has the known form. Otherwise the error names the version as newer.
func TestBlocksOfALaterVersion(t *testing.T) {
	block := handmade(t, newestVersion+1, aTx())
	if b := decoded(t, block); len(b.Txs) != 1 {
		t.Errorf("the block has %d transactions", len(b.Txs))
	}
	raw := jsonOf(t, block)
	d, err := newDecoder(newChain(networks[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.block([]byte(strings.Replace(string(raw), `"votes":"0`, `"votes":"1`, 1)))
	if err == nil || !strings.Contains(err.Error(), "its version 5 is newer than this release supports (4)") {
		t.Errorf("an unknown form is the error %v", err)
	}
}
