package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// downgrade is a document as OpenAPI 3.0 writes it. What huma leaves as it is, a choice between a schema and null, 3.0
// writes as a schema that is nullable.
func downgrade(d *huma.OpenAPI) ([]byte, error) {
	text, err := d.Downgrade()
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if info, ok := document["info"].(map[string]any); ok {
		if license, ok := info["license"].(map[string]any); ok {
			delete(license, "identifier")
		}
	}
	withoutNull(document)
	return json.Marshal(document)
}

func withoutNull(node any) {
	switch node := node.(type) {
	case map[string]any:
		if choices, ok := node["anyOf"].([]any); ok && len(choices) == 2 {
			if null, ok := choices[1].(map[string]any); ok && null["type"] == "null" {
				delete(node, "anyOf")
				node["allOf"], node["nullable"] = choices[:1], true
			}
		}
		for _, child := range node {
			withoutNull(child)
		}
	case []any:
		for _, child := range node {
			withoutNull(child)
		}
	}
}
