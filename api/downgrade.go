package api

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// downgrade is a document as OpenAPI 3.0 writes it, for generators of clients. What huma leaves as it is, a choice between a
// schema and null, 3.0 writes as a schema that is nullable. Problems of all kinds are one response, the default: generators
// make types and code for each of those that an operation lists.
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

// problems is where the responses that tell of a problem are, and otherProblem the one that fits them all.
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
			problem["description"] = "Any problem. Its status says of which kind it is, its code what it is."
		}
	}
}
