package ergographql_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/api/ratelimit"
	"birthmark/bench/generate/ergogen"
	"birthmark/core/meter"
	"birthmark/internal/testnode/ergotest"
)

// nested returns a query for the schema, whose answer has aliases^6 times as many fields as a type.
func nested(aliases int) string {
	var q strings.Builder
	level := func(name, on, field, next string) {
		fmt.Fprintf(&q, "fragment %s on %s{", name, on)
		for i := range aliases {
			fmt.Fprintf(&q, "a%d:%s{...%s} ", i, field, next)
		}
		q.WriteString("} ")
	}
	fmt.Fprintf(&q, "{s:__schema{...F0}} ")
	level("F0", "__Schema", "types", "F1")
	level("F1", "__Type", "fields", "F2")
	level("F2", "__Field", "type", "F3")
	level("F3", "__Type", "fields", "F4")
	level("F4", "__Field", "type", "F5")
	q.WriteString("fragment F5 on __Type{name}")
	return q.String()
}

// Fields are counted while they are resolved, those of introspection too: a query ends at a number of fields, at the rate
// of its client, and at the memory for answers.
func TestFieldsAreCounted(t *testing.T) {
	w := newWorld(t, "mainnet")
	for _, c := range []struct {
		aliases, burst int
		memory         int64
		status         int
		message        string
	}{
		{1, 1000, 1 << 30, 200, ""},
		{5, 1000, 1 << 30, 400, "at most 200000 fields"},
		{5, 2, 1 << 30, 429, "rate limit exceeded"},
		{5, 1000, 1 << 20, 400, "memory"},
	} {
		o := ratelimit.Defaults()
		o.Timeout = 0 // the limits count, on a slow machine too
		o.Rate = ratelimit.Rate{PerSecond: 1e-9, Burst: c.burst}
		o.Memory = meter.NewBudget(c.memory)
		body, err := json.Marshal(map[string]any{"query": nested(c.aliases)})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", path, strings.NewReader(string(body)))
		r.RemoteAddr = "192.0.2.1:1"
		a := httptest.NewRecorder()
		ratelimit.New(o, w).ServeHTTP(a, r)
		if a.Code != c.status || !strings.Contains(a.Body.String(), c.message) {
			t.Errorf("%d aliases, burst %d, %d bytes: %d %.300s", c.aliases, c.burst, c.memory, a.Code, a.Body)
		}
		if n := o.Memory.Used(); n != 0 {
			t.Errorf("%d bytes are held after the answer", n)
		}
	}
}

// introspection is a query for the whole schema, with types as deep as those of tools.
var introspection = `query All { __schema { queryType { name } mutationType { name } subscriptionType { name } types { ...Type }
	directives { name description locations args { ...Argument } } } }
fragment Type on __Type { kind name description fields(includeDeprecated: true) { name description args { ...Argument } type { ...Ref }
	isDeprecated deprecationReason } inputFields { ...Argument } interfaces { ...Ref }
	enumValues(includeDeprecated: true) { name description } possibleTypes { ...Ref } }
fragment Argument on __InputValue { name description type { ...Ref } defaultValue }
fragment Ref on __Type { kind name` + strings.Repeat(" ofType { kind name", 9) + strings.Repeat(" }", 10)

// free is a client that pays everything.
type free struct{}

func (free) Pay(int64) error { return nil }
func (free) Release()        {}

// An answer that depends on the schema alone is computed once: after that its fields cost nothing. Queries that differ in
// their variables or operation have their own answers, and answers from the chain are never repeated.
func TestConstantAnswersAreComputedOnce(t *testing.T) {
	w := newWorld(t, "testnet")
	c := ergogen.New(ergogen.Options{Seed: 1})
	blocks := ergotest.Made(c, 8)
	w.Sync(t, 0, blocks[:5]...)
	ask := func(body map[string]any) (answer string, points int64) {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		m := meter.New(free{}, 0, 1, nil)
		r := httptest.NewRequestWithContext(meter.With(t.Context(), m), "POST", path, strings.NewReader(string(text)))
		a := httptest.NewRecorder()
		w.ServeHTTP(a, r)
		if a.Code != 200 {
			t.Fatalf("%s: %d %s", text, a.Code, a.Body)
		}
		return a.Body.String(), m.Cost().Points
	}
	named := func(operation string, variables map[string]any) map[string]any {
		return map[string]any{
			"query":         ` query One($all: Boolean!) { __type(name: "Box") { name fields @include(if: $all) { name } } } query Two { info { version } }`,
			"operationName": operation, "variables": variables,
		}
	}
	for _, q := range []struct {
		body map[string]any
		has  string
		free bool
	}{
		{map[string]any{"query": introspection}, `"name":"UnconfirmedTransaction"`, true},
		{named("One", map[string]any{"all": true}), `"name":"ergoTree"`, true},
		{named("One", map[string]any{"all": false}), `{"data":{"__type":{"name":"Box"}}}`, true},
		{named("Two", map[string]any{"all": true}), `"version":`, true},
		{map[string]any{"query": "{ __schema { types { name fields { name } } } state { height } }"}, `"state":{"height":5}`, false},
	} {
		first, paid := ask(q.body)
		again, more := ask(q.body)
		if !strings.Contains(first, q.has) || again != first {
			t.Errorf("%v: %.300s, then %.300s, expected %s", q.body, first, again, q.has)
		}
		if (more == 0) != q.free || len(first) > 1000 && paid == 0 {
			t.Errorf("%.100v: %d points, then %d", q.body, paid, more)
		}
	}
	w.Sync(t, 5, blocks[5:]...)
	if got, _ := ask(map[string]any{"query": "{ __schema { types { name fields { name } } } state { height } }"}); !strings.Contains(got, `"state":{"height":8}`) {
		t.Errorf("after more blocks: %.300s", got)
	}
}
