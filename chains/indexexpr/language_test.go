package indexexpr

import (
	"slices"
	"strings"
	"testing"

	"birthmark/model"
)

// world is a small language with a field of every type.
type world struct {
	Output worldOutput `expr:"output"`
	Tx     worldTx     `expr:"tx"`
	Block  worldBlock  `expr:"block"`
}

type worldOutput struct {
	Index      int               `expr:"index" doc:"its place in the transaction"`
	Value      int               `expr:"value" doc:"what it is worth" example:"5000"`
	Data       []byte            `expr:"data" doc:"what it carries"`
	Address    string            `expr:"address" doc:"who it pays"`
	ScriptType string            `expr:"script_type" doc:"the form of its script"`
	Pushes     [][]byte          `expr:"pushes" doc:"what its script pushes"`
	Names      []string          `expr:"names" doc:"texts"`
	Registers  map[string][]byte `expr:"registers" doc:"by name"`
}

type worldTx struct {
	Hash     string        `expr:"hash" doc:"its hash"`
	Coinbase bool          `expr:"coinbase" doc:"whether it makes new coins"`
	Inputs   []*worldInput `expr:"inputs" doc:"what it spends"`
}

type worldInput struct {
	Script  []byte   `expr:"script" doc:"what unlocks it"`
	Witness [][]byte `expr:"witness" doc:"its witness"`
	Number  int      `expr:"number" doc:"a number"`
}

type worldBlock struct {
	Height int `expr:"height" doc:"its height"`
}

var worldLanguage = NewLanguage("world", (*world)(nil), map[string]Choice{
	"output.script_type": {Names: []string{"pubkey", "nulldata"}, Aliases: map[string]string{"op_return": "nulldata"}},
})

// example is an output of a transaction of a block.
func example() *world {
	return &world{
		Output: worldOutput{
			Index: 1, Value: 5000, Data: []byte("omni\x00\x01tail"), Address: "1abc", ScriptType: "nulldata",
			Pushes: [][]byte{[]byte("omni"), {0, 1}, []byte("tail"), []byte("omni")}, Names: []string{"one", "", "two", "one"},
			Registers: map[string][]byte{"R4": {4, 5}},
		},
		Tx: worldTx{Hash: "ff00", Inputs: []*worldInput{
			{Script: []byte("first"), Witness: [][]byte{[]byte(`{"p":"brc-20","tick":"ORDI","amt":12345678901234567890,"n":1.50,"list":[1,2]}`)}, Number: 7},
			{Script: []byte("second"), Number: 300},
		}},
		Block: worldBlock{Height: 800_000},
	}
}

// values returns the formatted values of one definition on one output, joined.
func values(t testing.TB, w *world, d model.Definition) (string, error) {
	t.Helper()
	if d.Name == "" {
		d.Name = "own"
	}
	x, err := worldLanguage.Define(nil, []model.Definition{d})
	if err != nil {
		return "", err
	}
	r := x.Bind([]string{"other", d.Name}, w, func(Set) {})
	r.Block()
	r.Tx()
	r.Output()
	var all []string
	for _, k := range r.Keys(nil) {
		if k.Index != 1 {
			t.Errorf("%v: a key of index %d", d, k.Index)
		}
		all = append(all, x.Indexes()[0].Format(k.Value))
	}
	return strings.Join(all, ","), nil
}

func TestExpressionsHaveTheValuesTheySayTheyHave(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{`output.data`, "6f6d6e690001" + "7461696c"},
		{`output.data[0:4]`, "6f6d6e69"},
		{`output.data[4:400]`, "00017461696c"},
		{`output.data[-4:]`, "7461696c"},
		{`output.data[40:50]`, ""},
		{`text(output.data[0:4])`, "omni"},
		{`text(unhex("ff"))`, ""},
		{`hex(output.data[4:6])`, "0001"},
		{`unhex(tx.hash)`, "ff00"},
		{`unhex("0001")`, "0001"},
		{`output.value`, "5000"},
		{`output.value + 1`, "5001"},
		{`output.value / 3`, "1666.6666666666667"},
		{`output.value > 4999`, "true"},
		{`output.data <= output.data`, "true"},
		{`output.data >= output.data`, "true"},
		{`output.data < output.data`, "false"},
		{`output.data > output.data`, "false"},
		{`output.address <= "1abc"`, "true"},
		{`output.address >= "1abc"`, "true"},
		{`output.address < "1abc"`, "false"},
		{`output.address > "1abc"`, "false"},
		{`output.address <= "1abb"`, "false"},
		{`output.data == "omni"`, "false"},
		{`output.data[0:4] == "omni"`, "true"},
		{`"omni" == output.data[0:4]`, "true"},
		{`output.data[0:4] != "omni"`, "false"},
		{`output.data startsWith "omni"`, "true"},
		{`output.data endsWith b"\x01tail"`, "true"},
		{`output.data contains "ni"`, "true"},
		{`output.data[0:4] in ["omni", "SPK!"]`, "true"},
		{`output.data[0:4] not in ["SPK!"]`, "true"},
		{`"omni" in output.pushes`, "true"},
		{`output.address in ["1abc", "1def"]`, "true"},
		{`"R4" in output.registers`, "true"},
		{`output.registers.R4`, "0405"},
		{`output.registers["R4"][0]`, "4"},
		{`output.registers.R9`, ""},
		{`output.registers.R9[0]`, ""},
		{`output.data matches "^omni"`, "true"},
		{`output.data matches "\\\\pL"`, "false"},
		{`output.data matches "(?i)^OMNI\\x00"`, "true"},
		{`output.data[0:4] < "omnj"`, "true"},
		{`output.data[0:4] + "!"`, "6f6d6e6921"},
		{`output.address + "!" + string(output.index)`, "1abc!1"},
		{`len(output.data)`, "10"},
		{`len(output.pushes)`, "4"},
		{`len(output.pushes[9])`, "0"},
		{`output.pushes[2]`, "7461696c"},
		{`output.pushes[9]`, ""},
		{`output.pushes[-1]`, "6f6d6e69"},
		{`output.pushes[9] == nil`, "true"},
		{`output.pushes[9] != "omni"`, "true"},
		{`output.pushes[9] ?? output.pushes[0]`, "6f6d6e69"},
		{`output.pushes[9] ?? "none"`, "none"},
		{`len(output.pushes[9] ?? "none") == 4`, "true"},
		{`tx.inputs[0].script`, hexOf(&meter{left: budget}, []byte("first")).(string)},
		{`tx.inputs[5].script`, ""},
		{`tx.inputs[5].witness[0]`, ""},
		{`tx.inputs[5].witness[0] == "x"`, "false"},
		{`json(tx.inputs[0].witness[0]).tick`, "ORDI"},
		{`lower(json(tx.inputs[0].witness[0]).tick)`, "ordi"},
		{`json(tx.inputs[0].witness[0]).amt`, "12345678901234567890"},
		{`json(tx.inputs[0].witness[0]).n`, "1.50"},
		{`json(tx.inputs[0].witness[0]).list[1]`, "2"},
		{`json(tx.inputs[0].witness[0]).list`, ""},
		{`json(tx.inputs[0].witness[0]).no.such[3].thing`, ""},
		{`json(output.data).tick`, ""},
		{`json(output.data)?.tick`, ""},
		{`let j = json(tx.inputs[0].witness[0]); j.p == "brc-20" ? j.tick : nil`, "ORDI"},
		{`any(tx.inputs, .script == "second")`, "true"},
		{`any(tx.inputs, .number == 300)`, "true"},
		{`find(tx.inputs, .number == 300).script`, hexOf(&meter{left: budget}, []byte("second")).(string)},
		{`find(tx.inputs, .number == 301).script`, ""},
		{`find(tx.inputs, .number == 301) == nil`, "true"},
		{`find(tx.inputs, .number == 300) != nil`, "true"},
		{`output.data[0] == 111`, "true"},
		{`output.data[0] in [1, 111]`, "true"},
		{`output.data[0] * 256 + output.data[1]`, "28525"},
		{`output.data[99] == 111`, "false"},
		{`json(output.data).flag or output.value == 5000`, "true"},
		{`not json(output.data).flag`, "true"},
		{`json(tx.inputs[0].witness[0]).p and true`, "false"},
		{`json(output.data).flag ? 1 : 2`, "2"},
		{`count(tx.inputs, json(.witness[0]).n)`, "0"},
		{`if tx.inputs[0].number == 7 { "seven" } else { "other" }`, "seven"},
		{`output.names | filter(# != "") | first()`, "one"},
		{`output?.data[0:1]`, "6f"},
		{`text(tx.inputs[0].script)[1:3]`, "ir"},
		{`"é"[0:1]`, ""},
		{`-output.value`, "-5000"},
		{`output.value > 1e3`, "true"},
		{`9223372036854775807 + 1`, "-9223372036854775808"},
		{`first(output.pushes)`, "6f6d6e69"},
		{`sum(tx.inputs, .number)`, "307"},
		{`sha256("")`, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{`uint(unhex("0102"))`, "258"},
		{`uint(unhex("0102"), "little")`, "513"},
		{`uint(unhex("ffffffffffffffff"))`, ""},
		{`int("12")`, "12"},
		{`int("x")`, ""},
		{`upper("aé")`, "Aé"},
		{`trim(" x ")`, "x"},
		{`join(split("a,b", ","), "-")`, "a-b"},
		{`output.address == nil`, "false"},
		{`output.names[1] == nil`, "true"},
		{`output.names[1]`, ""},
		{`1 / 0`, ""},
		{`output.value % 0`, ""},
		{`output.coinbase ?? 1`, "error"},
		{`block.height >= 800_000 and not tx.coinbase`, "true"},
		{`output.script_type == "op_return"`, "true"},
		{`output.script_type in ["pubkey", "op_return"]`, "true"},
	} {
		got, err := values(t, example(), model.Definition{Value: c.value})
		if err != nil && c.want == "error" {
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, expected %q", c.value, got, err, c.want)
		}
	}
}

// Functions that depend on the time, map order or Unicode tables, or that cost too much, do not exist.
func TestFunctionsThatAreNotTheSameForEverybodyDoNotExist(t *testing.T) {
	for _, call := range []string{
		`now()`, `date("2020-01-01")`, `duration("1h")`, `timezone("UTC")`, `keys(output.registers)`, `values(output.registers)`, `toPairs(output.registers)`,
		`fromPairs([["a", 1]])`, `groupBy(output.names, #)`, `sortBy(output.names, #)`, `sort(output.names)`, `reduce(output.names, # + #acc)`, `uniq(output.names)`,
		`toJSON(output.names)`, `fromJSON("1")`, `repeat("a", 5)`, `type(1)`, `float("1")`, `mean([1])`, `median([1])`, `toBase64("a")`, `reverse(output.names)`, `splitAfter("a", "b")`,
	} {
		if _, err := values(t, example(), model.Definition{Value: call}); err == nil || !strings.Contains(err.Error(), "unknown function ") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestListsAreManyValues(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{`output.pushes`, "6f6d6e69,0001,7461696c"},
		{`output.names`, "one,two"},
		{`filter(output.pushes, # startsWith "o")`, "6f6d6e69"},
		{`map(output.pushes, #[0:1])`, "6f,00,74"},
		{`map(tx.inputs, .number)`, "7,300"},
		{`[flatten(map(tx.inputs, .witness))[0][0:1]]`, "7b"},
		{`map(flatten(map(tx.inputs, .witness)), json(#).tick)`, "ORDI"},
		{`json(tx.inputs[0].witness[0]).list`, "1,2"},
		{`json(tx.inputs[0].witness[0]).tick`, ""},
		{`concat(output.names, ["three"])`, "one,two,three"},
		{`["a", "b", "a", ""]`, "a,b"},
		{`take(output.pushes, 2)`, "6f6d6e69,0001"},
		{`output.pushes[1:3]`, "0001,7461696c"},
	} {
		got, err := values(t, example(), model.Definition{Value: c.value, Kind: model.ManyValued})
		if err != nil && c.want == "error" {
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, expected %q", c.value, got, err, c.want)
		}
	}
}

func TestErrorsSayWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ when, value, want string }{
		{"", `output.dat[0:4]`, "index own: value: 8: unknown field output.dat, did you mean data? (output.‸dat[0:4])"},
		{"", `output.zzzzzzz`, `index own: value: 8: unknown field output.zzzzzzz, expected one of index, value, data, address, script_type, pushes, names, registers (output.‸zzzzzzz)`},
		{"", `outpt.data`, `index own: value: 1: unknown name outpt, did you mean output? (‸outpt.data)`},
		{"", `output.data ==`, `index own: value: 14: unexpected end (output.data =‸=)`},
		{"", `output.data == 4`, `index own: value: 13: operator == does not accept bytes and number (output.data ‸== 4)`},
		{"output.data", `output.data`, `index own: when: 1: expected true or false, got bytes (‸output.data)`},
		{"", `output.pushes`, `index own: value: 1: a list needs kind many-valued: expected one value, such as its first (‸output.pushes)`},
		{"", `output.registers`, `index own: value: 1: expected bytes, text, a number, true or false, got map to bytes (‸output.registers)`},
		{"", `tx.inputs[0]`, `index own: value: 1: expected bytes, text, a number, true or false, got an entry of tx.inputs (‸tx.inputs[0])`},
		{"", `now()`, `index own: value: 1: unknown function now, did you mean none? (‸now())`},
		{"", `keys(output.registers)`, `index own: value: 1: unknown function keys, expected one of abs, all, any, concat, count, filter, find, findIndex, findLast, findLastIndex, first, flatten, get, hex, indexOf, int, join, json, last, len, lower, map, max, min, none, one, replace, sha256, split, string, sum, take, text, trim, trimPrefix, trimSuffix, uint, unhex, upper (‸keys(output.registers))`},
		{"", `hex(5)`, `index own: value: 1: argument 1 has the wrong type: expected bytes (‸hex(5))`},
		{"", `hex()`, `index own: value: 1: 0 arguments, expected 1 (‸hex())`},
		{"", `tx.inputs[0].scrip`, `index own: value: 14: unknown field scrip, did you mean script? (tx.inputs[0].‸scrip)`},
		{"", `any(tx.inputs, .scrip == 5)`, `index own: value: 17: unknown field scrip, did you mean script? (any(tx.inputs, .‸scrip == 5))`},
		{"", `any(tx.inputs, .script == 5)`, `index own: value: 24: operator == does not accept bytes and number (any(tx.inputs, .script ‸== 5))`},
		{"output.script_type == 'p2pkh'", `output.data`, `index own: when: 23: invalid value "p2pkh" of output.script_type: expected one of pubkey, nulldata, op_return (output.script_type == ‸'p2pkh')`},
		{"", `output.data.foo`, `index own: value: 13: bytes has no fields (output.data.‸foo)`},
		{"", `output.data[0:"x"] == "a"`, `index own: value: 15: non-integer slice index text (output.data[0:‸"x"] == "a")`},
		{"", `$env`, `index own: value: 1: unknown name $env (‸$env)`},
		{"", `1..100`, `index own: value: 2: unsupported operator .. (1‸..100)`},
		{"", `unhex("xx")`, `index own: value: 7: invalid hex digits "xx": expected pairs (unhex(‸"xx"))`},
		{"", `output.data matches output.address`, `index own: value: 28: operator matches needs a regular expression in quotes (…put.data matches output.‸address)`},
		{"", `output.data matches "("`, `index own: value: 21: error parsing regexp: missing closing ): '(' (output.data matches ‸"(")`},
		{"", `output.data matches "a\\pL"`, `index own: value: 21: classes of characters such as \pL change with the versions of Unicode: expected ranges such as [a-z] (output.data matches ‸"a\\pL")`},
		{"", `output`, `index own: value: 1: expected bytes, text, a number, true or false, got output (‸output)`},
		{"", `nil`, `index own: value: 1: is always nil (‸nil)`},
		{"", `output.value + "x"`, `index own: value: 14: operator + does not accept number and text (output.value ‸+ "x")`},
		{"", `-output.data`, `index own: value: 1: operator - does not accept bytes (‸-output.data)`},
		{"", `output.data > 5`, `index own: value: 13: operator > does not accept bytes and number (output.data ‸> 5)`},
		{"", "output.value +\n  output.zzz", `index own: value: 2:10: unknown field output.zzz, expected one of index, value, data, address, script_type, pushes, names, registers (output.value + output.‸zzz)`},
		{"", `json(output)`, `index own: value: 1: argument 1 has the wrong type: expected bytes or text (‸json(output))`},
		{"", `tx.inputs[0] == tx.inputs[1]`, `index own: value: 14: an entry of tx.inputs cannot be compared with an entry of tx.inputs (tx.inputs[0] ‸== tx.inputs[1])`},
		{"", `output[0]`, `index own: value: 8: output has fields and is not a list (output[‸0])`},
		{"", `output.data.String()`, `index own: value: 13: bytes has no methods: call a function, as in hex(output.data) (output.data.‸String())`},
		{"", `{}[8]`, `index own: value: 4: cannot use number to get an element from map to anything ({}[‸8])`},
		{"", `hex + 1`, `index own: value: 5: a function is called, as in hex(output.data) (hex ‸+ 1)`},
		{"", `output.value ? 1 : 2`, `index own: value: 8: expected true or false (got number) (output.‸value ? 1 : 2)`},
		{"", `filter(tx.inputs, .number)`, `index own: value: 19: expected true or false of each entry (got number) (filter(tx.inputs, ‸.number))`},
		{"", `99999999999999999999`, `index own: value: 20: invalid integer literal: "99999999999999999999" (9999999999999999999‸9)`},
		{"", `output.pushes[0:tx.hash]`, `index own: value: 20: non-integer slice index text (output.pushes[0:tx.‸hash])`},
		{"", `output.names[output.data]`, `index own: value: 21: non-integer slice index bytes (output.names[output.‸data])`},
		{"", `tx.inputs.script`, `index own: value: 11: list of entries has no fields (tx.inputs.‸script)`},
		{"", `len(5)`, `index own: value: 1: argument 1 has the wrong type: expected bytes or text or a list or a map (‸len(5))`},
		{"", `min("a")`, `index own: value: 1: invalid argument for min (type text) (‸min("a"))`},
		{"", `foo(1)`, `index own: value: 1: unknown function foo, expected one of abs, all, any, concat, count, filter, find, findIndex, findLast, findLastIndex, first, flatten, get, hex, indexOf, int, join, json, last, len, lower, map, max, min, none, one, replace, sha256, split, string, sum, take, text, trim, trimPrefix, trimSuffix, uint, unhex, upper (‸foo(1))`},
		{"", `{"a": 1}`, `index own: value: 1: expected bytes, text, a number, true or false, got map to anything (‸{"a": 1})`},
		{"", `output.address startsWith 5`, `index own: value: 16: operator startsWith does not accept text and number (output.address ‸startsWith 5)`},
		{"", `"x" in output`, `index own: value: 5: operator in needs a list or a map, got output ("x" ‸in output)`},
	} {
		_, err := values(t, example(), model.Definition{When: c.when, Value: c.value})
		if err == nil || strings.ReplaceAll(err.Error(), "`", "'") != c.want {
			t.Errorf("%s: %v, expected %s", c.value, err, c.want)
			continue
		}
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_definition" {
			t.Errorf("%s: kind %d, code %s", c.value, kind, code)
		}
	}
}

func TestALanguageThatCannotBeIsABug(t *testing.T) {
	type good struct {
		A int `expr:"a" doc:"it"`
	}
	for name, root := range map[string]any{
		"too few parts": &struct {
			Output good `expr:"output"`
		}{},
		"another part": &struct {
			Output good `expr:"output"`
			Tx     good `expr:"transaction"`
			Block  good `expr:"block"`
		}{},
		"no description": &struct {
			Output struct {
				A int `expr:"a"`
			} `expr:"output"`
			Tx    good `expr:"tx"`
			Block good `expr:"block"`
		}{},
		"a type that is none": &struct {
			Output struct {
				A uint64 `expr:"a" doc:"it"`
			} `expr:"output"`
			Tx    good `expr:"tx"`
			Block good `expr:"block"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			NewLanguage("bad", root, nil)
		}()
	}
	for _, ask := range []func(){
		func() { worldLanguage.Bit("output.nothing") },
		func() { NewLanguage("world", (*world)(nil), map[string]Choice{"output.nothing": {}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("an unknown field: no panic")
				}
			}()
			ask()
		}()
	}
}

func TestFieldsFollowTheirLists(t *testing.T) {
	var got []string
	for _, f := range worldLanguage.Fields() {
		got = append(got, f.Name+" "+f.Type)
	}
	want := []string{
		"output.index number", "output.value number", "output.data bytes", "output.address text", "output.script_type text",
		"output.pushes list of bytes", "output.names list of text", "output.registers map to bytes", "tx.hash text", "tx.coinbase true or false",
		"tx.inputs list of entries", "tx.inputs[].script bytes", "tx.inputs[].witness list of bytes", "tx.inputs[].number number", "block.height number",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
