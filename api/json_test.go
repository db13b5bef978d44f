package api

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"birthmark/api/jsonappend"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// All answers and entries are encoded as encoding/json does.
func TestAnswersAreEncodedAsByEncodingJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 903), 0))
	kinds := []any{ChainsAnswer{}, FieldsAnswer{}, StreamEnd{}}
	for _, op := range (&Options{}).operations() {
		kinds = append(kinds, op.Answer)
		if op.Entry != nil {
			kinds = append(kinds, op.Entry)
		}
	}
	for _, kind := range kinds {
		for range 400 {
			v := reflect.New(reflect.TypeOf(kind))
			fill(rng, v.Elem())
			var want bytes.Buffer
			e := json.NewEncoder(&want)
			e.SetEscapeHTML(false)
			if err := e.Encode(v.Interface()); err != nil {
				t.Fatal(err)
			}
			if text := jsonappend.Append(nil, &document{v.Interface()}); !bytes.Equal(text, want.Bytes()) {
				t.Fatalf("%T\n%s, expected\n%s", kind, text, want.Bytes())
			}
		}
	}
}

var texts = []string{"", "address", "plain text", `"quoted" \ back`, "<&>", "tab\t", "é…", "\xff\xfe", "a\u2028b", "\x7f", "null"}

// fill fills a value with random content.
func fill(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		s := texts[rng.IntN(len(texts))]
		for rng.IntN(2) == 0 {
			s += texts[rng.IntN(len(texts))]
		}
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, rng.Int64(), -rng.Int64()}[rng.IntN(5)])
	case reflect.Uint32:
		v.SetUint(uint64(rng.Uint32N(3) * rng.Uint32N(1<<30)))
	case reflect.Uint64:
		v.SetUint([]uint64{0, 1, rng.Uint64()}[rng.IntN(3)])
	case reflect.Pointer:
		if spent, ok := v.Addr().Interface().(**query.SpentByAnswer); ok { // a hash: other text from MarshalJSON is escaped
			*spent = []*query.SpentByAnswer{nil, {Tx: "0a", Input: rng.IntN(9), Height: rng.Uint32()}}[rng.IntN(2)]
		} else if spent, ok := v.Addr().Interface().(**query.PendingSpentByAnswer); ok {
			*spent = []*query.PendingSpentByAnswer{nil, {Tx: "0b", Input: rng.IntN(9)}}[rng.IntN(2)]
		} else if rng.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem())
		}
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 12.345, rng.Float64()}[rng.IntN(4)])
	case reflect.Slice:
		if node, ok := v.Addr().Interface().(*json.RawMessage); ok {
			*node = json.RawMessage([]string{"null", `{"allowed":true,"fees":{"base":0.00001000}}`, `["<&>"]`}[rng.IntN(3)])
		} else if n := rng.IntN(4) - 1; n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(rng, v.Index(i))
			}
		}
	case reflect.Map:
		if values, ok := v.Addr().Interface().(*map[string]model.EncodedValue); ok {
			*values = []map[string]model.EncodedValue{nil, {}, {"R4": {Raw: "05", Value: []any{"<&>", 1}}}}[rng.IntN(3)]
		} else if rates, ok := v.Addr().Interface().(*map[string]float64); ok {
			*rates = []map[string]float64{nil, {}, {"1": rng.Float64(), "144": 2}}[rng.IntN(3)]
		} else if n := rng.IntN(12) - 1; n >= 0 {
			m := map[string]any{}
			for range n {
				m[texts[rng.IntN(len(texts))]] = []any{"value", []string{"a", texts[rng.IntN(len(texts))]}, []string(nil), 7, nil}[rng.IntN(5)]
			}
			v.Set(reflect.ValueOf(m))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	case reflect.Interface: // a header of a block
		v.Set(reflect.ValueOf(map[string]any{"a": texts[rng.IntN(len(texts))], "b": rng.IntN(9)}))
	}
}
