package blockfrost_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are the schemas of answers by method, path and status, of the file in BIRTHMARK_BLOCKFROST_SCHEMA: the
// json-schema.json of the package @blockfrost/openapi. Without the variable, answers are not validated.
var schemas = func() map[string]*jsonschema.Schema {
	file := os.Getenv("BIRTHMARK_BLOCKFROST_SCHEMA")
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schemas.json", nullable(document)); err != nil {
		panic(err)
	}
	all := map[string]*jsonschema.Schema{}
	for path, operation := range document.(object) {
		answers, _ := operation.(object)["response"].(object)
		for status := range answers {
			at := "schemas.json#/" + strings.ReplaceAll(strings.ReplaceAll(path, "~", "~0"), "/", "~1") + "/response/" + status
			all[anyPart.ReplaceAllString(path, "{}")+" "+status] = c.MustCompile(at)
		}
	}
	return all
}()

var anyPart = regexp.MustCompile(`\{[^}]*\}`)

// nullable replaces the keyword of OpenAPI that a value can be null.
func nullable(v any) any {
	switch v := v.(type) {
	case object:
		if kind, typed := v["type"].(string); typed && v["nullable"] == true {
			v["type"] = []any{kind, "null"}
			if values, limited := v["enum"].([]any); limited {
				v["enum"] = append(values, nil)
			}
		}
		for _, part := range v {
			nullable(part)
		}
	case []any:
		for _, part := range v {
			nullable(part)
		}
	}
	return v
}

// validate fails if an answer to a route does not have the schema of its operation.
func validate(t testing.TB, route string, status int, body string) {
	t.Helper()
	if schemas == nil || route == "" || status >= 501 {
		return
	}
	key := anyPart.ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(route, path), "/"), "{}")
	if key == "" {
		key = "/"
	}
	s := schemas[key+" "+strconv.Itoa(status)]
	if s == nil && status == 404 { // the document omits it for some operations that look something up
		s = schemas["/blocks/{} 404"]
	}
	if s == nil {
		t.Errorf("%s: the document has no status %d", key, status)
		return
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if m, ok := v.(object); ok && key == "/epochs/latest/parameters" && m["nonce"] == nil {
		m["nonce"] = "" // null if it is unknown, as docs/cardano-clients.md states
	}
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%s %d: %v: %.300s", key, status, err, body)
	}
}

// Answers are validated against a document: one that lacks a required field is a fault.
func TestSchemas(t *testing.T) {
	if schemas == nil {
		t.Skip("BIRTHMARK_BLOCKFROST_SCHEMA is not set")
	}
	if s := schemas["/epochs/{} 200"]; s == nil || s.Validate(object{"epoch": json.Number("1")}) == nil {
		t.Error("an epoch without times has the schema")
	}
}
