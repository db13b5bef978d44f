package ergographql_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/api/ratelimit"
	"birthmark/core/meter"
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
		{5, 1000, 1 << 20, 503, "memory"},
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
