package electrum

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]request{
		`{"id":1,"method":"server.ping"}`:                      {id: []byte("1"), method: []byte("server.ping")},
		` { "method" : "a.b" , "id" : "x" , "params" : [ ] } `: {id: []byte(`"x"`), method: []byte("a.b")},
		`{"id":null,"method":"a","params":null}`:               {id: []byte("null"), method: []byte("a")},
		`{"method":"a","params":[1,"two",[3,[]],{"4":"}]"}]}`: {
			method: []byte("a"), n: 4,
			args: args{values: [maxParams][]byte{[]byte("1"), []byte(`"two"`), []byte("[3,[]]"), []byte(`{"4":"}]"}`)}},
		},
		`{"id":1,"method":"a","params":[1,2,3,4,5,6]}`: {
			id: []byte("1"), method: []byte("a"), n: 6,
			args: args{values: [maxParams][]byte{[]byte("1"), []byte("2"), []byte("3"), []byte("4")}},
		},
		`{"id":1,"method":"\u0061\"","params":{"x":true,"y\\":null}}`: {
			id: []byte("1"), method: []byte(`a"`), n: 2, named: true,
			names: [maxParams][]byte{[]byte("x"), []byte(`y\`)}, args: args{values: [maxParams][]byte{[]byte("true"), []byte("null")}},
		},
		`7`:                                {id: null, err: invalidRequest("a request must be a JSON object")},
		`{"id":{},"method":"a"}`:           {id: null, method: []byte("a"), err: invalidRequest("id must be a number, a string or null")},
		`{"id":2}`:                         {id: []byte("2"), err: invalidRequest("the request has no method")},
		`{"method":3}`:                     {id: null, err: invalidRequest("method must be a string")},
		`{"id":2,"method":"a","params":1}`: {id: []byte("2"), method: []byte("a"), err: invalidRequest("params must be an array or an object")},
	} {
		got, batch, err := parse([]byte(text), nil, 10)
		if err != nil || batch || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v %v %v, expected %+v", text, got, batch, err, want)
		}
	}
}

func TestParseBatch(t *testing.T) {
	got, batch, err := parse([]byte(`[ {"id":1,"method":"a"}, 5 ,{"id":2,"method":"b"}]`), nil, 3)
	if err != nil || !batch || len(got) != 3 || string(got[2].method) != "b" || got[1].err == nil {
		t.Errorf("%+v %v %v", got, batch, err)
	}
	for text, code := range map[string]int{
		`[]`: codeRequest, `[1,2,3,4]`: codeRequest, ``: codeParse, `{`: codeParse, `{"a":1}{}`: codeParse, "\x00": codeParse,
		`GET / HTTP/1.1`: codeParse, `[1,]`: codeParse, `{"id":01}`: codeParse,
	} {
		if _, _, err := parse([]byte(text), nil, 3); err == nil || err.Code != code {
			t.Errorf("%q: %v, expected code %d", text, err, code)
		}
	}
}

// The parser accepts what encoding/json accepts, and finds the same values.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"blockchain.scripthash.get_history","params":["ab",0,-1]}`))
	f.Add([]byte(`[{"id":"\\\"","method":"\u0061","params":{"a":[{"b":"]}"}]}} , 1, [], "x"]`))
	f.Add([]byte(`{"params":[[],{},"",null,1e5,true],"method":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		reqs, batch, err := parse(text, nil, 1000)
		if (err != nil && err.Code == codeParse) == json.Valid(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		var all []json.RawMessage
		if !batch {
			all = []json.RawMessage{bytes.TrimSpace(text)}
		} else if json.Unmarshal(text, &all) != nil || len(all) != len(reqs) {
			t.Fatalf("%q: %d requests, expected %d", text, len(reqs), len(all))
		}
		for i, one := range all {
			var fields map[string]json.RawMessage
			if json.Unmarshal(one, &fields) != nil {
				continue // not an object
			}
			r := reqs[i]
			var method string
			if r.err == nil && (json.Unmarshal(fields["method"], &method) != nil || method != string(bytes.ToValidUTF8(r.method, []byte("\ufffd")))) {
				if _, twice := fields["method"]; twice {
					continue
				}
				t.Fatalf("%q: method %q, expected %q", one, r.method, method)
			}
			var list []json.RawMessage
			if r.err == nil && !r.named && json.Unmarshal(fields["params"], &list) == nil && bytes.Count(one, []byte(`params`)) == 1 {
				if len(list) != r.n {
					t.Fatalf("%q: %d parameters, expected %d", one, r.n, len(list))
				}
				for j := range min(r.n, maxParams) {
					if !bytes.Equal(bytes.TrimSpace(list[j]), r.args.values[j]) {
						t.Fatalf("%q: parameter %d is %q, expected %q", one, j, r.args.values[j], list[j])
					}
				}
			}
		}
	})
}

func TestNegotiate(t *testing.T) {
	for _, c := range []struct {
		asked []string
		want  string
	}{
		{[]string{"1.4"}, "1.4"},
		{[]string{"1.4.2"}, "1.4.2"},
		{[]string{"1.3", "1.4.2"}, "1.4.2"},
		{[]string{"1.4", "1.6"}, "1.6"},
		{[]string{"1.4", "2.0"}, "1.6"},
		{[]string{"1.6.1"}, ""},
		{[]string{"0", "9"}, "1.6"},
		{[]string{"1.2"}, ""},
		{[]string{"1.1", "1.3"}, ""},
		{[]string{"1.7", "1.8"}, ""},
		{[]string{"1.6", "1.4"}, ""},
		{[]string{"1.x"}, ""},
		{[]string{""}, ""},
		{[]string{"1.4.1.1"}, ""},
		{[]string{}, ""},
		{[]string{"1.4", "1.5", "1.6"}, ""},
	} {
		v, err := negotiate(c.asked)
		got := ""
		if err == nil {
			got = v.String()
		}
		if got != c.want {
			t.Errorf("%v: %q, %v; expected %q", c.asked, got, err, c.want)
		}
	}
}
