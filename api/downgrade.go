package api

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// downgrade converts a document to OpenAPI 3.0 for code generators. huma leaves choices between a schema and null, which
// 3.0 writes as a nullable schema. All error responses become the default response, because generators make types for
// each response of an operation.
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
	withProblemsTogether(document)
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

// problems is the path of the error responses, and otherProblem the general one.
const (
	problems     = "#/components/responses/"
	otherProblem = "Problem"
)

func withProblemsTogether(document map[string]any) {
	var together func(node any)
	together = func(node any) {
		object, ok := node.(map[string]any)
		if !ok {
			return
		}
		responses, _ := object["responses"].(map[string]any)
		for status, response := range responses {
			if ref, ok := response.(map[string]any)["$ref"].(string); ok && strings.HasPrefix(ref, problems) && status != "default" {
				delete(responses, status)
				responses["default"] = map[string]any{"$ref": problems + otherProblem}
			}
		}
		for _, child := range object {
			together(child)
		}
	}
	together(document["paths"])
	if components, ok := document["components"].(map[string]any); ok {
		all, _ := components["responses"].(map[string]any)
		maps.DeleteFunc(all, func(name string, _ any) bool { return name != otherProblem })
		if problem, ok := all[otherProblem].(map[string]any); ok {
			problem["description"] = "An error, identified by its code."
		}
	}
}
