package docs_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/api"
	"birthmark/api/docs"
	"birthmark/api/served"
)

// Every part of the document has a text, and no text is unused.
func TestEverythingInTheDocumentHasItsText(t *testing.T) {
	a, err := api.New(api.Options{
		Fields: func(string) (*api.FieldsAnswer, error) { return nil, nil },
		Events: noHandler, Watch: noHandler,
	})
	if err != nil {
		t.Fatal(err)
	}
	d := a.Documents.OpenAPI()
	used := map[string]bool{}
	for name, s := range d.Components.Schemas.Map() {
		if docs.SchemaDocs[name] == "" {
			t.Errorf("schema %s has no text in schemaDocs", name)
		}
		for property := range s.Properties {
			key := name + "." + property
			if docs.PropertyDocs[key] == "" {
				key = property
			}
			if docs.PropertyDocs[key] == "" {
				t.Errorf("%s.%s has no text in propertyDocs", name, property)
			}
			used[key] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(docs.SchemaDocs)) {
		if d.Components.Schemas.Map()[name] == nil {
			t.Errorf("schemaDocs has %s, which is not in the document", name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(docs.PropertyDocs)) {
		if !used[key] {
			t.Errorf("propertyDocs has %s, which is not in the document", key)
		}
	}
	for key := range docs.Nullable {
		schema, property, _ := strings.Cut(key, ".")
		if s := d.Components.Schemas.Map()[schema]; s == nil || s.Properties[property] == nil {
			t.Errorf("nullable has %s, which is not in the document", key)
		}
	}
	tagged := map[string]bool{}
	for path, item := range d.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post} {
			if op == nil {
				continue
			}
			tagged[op.Tags[0]] = true
			if op.Summary == "" || op.Description == "" || op.OperationID == "" {
				t.Errorf("%s: no summary, description or id", path)
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					t.Errorf("%s: parameter %s has no text", path, p.Name)
				}
			}
		}
	}
	for _, tag := range docs.Tags() {
		if !tagged[tag] {
			t.Errorf("no operation has the tag %s", tag)
		}
	}
	if len(tagged) != len(docs.Tags()) {
		t.Errorf("tags %v have no text", tagged)
	}
}

func noHandler(*served.Chain) http.Handler { return http.NotFoundHandler() }
