package docs

import "github.com/danielgtaylor/huma/v2"

// Texts of the documents.
var (
	SchemaDocs   = schemaDocs
	PropertyDocs = propertyDocs
	Nullable     = nullable
)

// Tags returns the names of the groups of operations.
func Tags() (names []string) {
	for _, t := range tags {
		names = append(names, t.name)
	}
	return names
}

// OpenAPI returns the OpenAPI document.
func (d *Docs) OpenAPI() *huma.OpenAPI { return d.openAPI(false) }
