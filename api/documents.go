package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2/yaml"
)

type document struct {
	contentType string
	body        []byte
}

func (d *document) serve(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Type"] = []string{d.contentType}
	send(w, r, d.body, tagBody(w, r, d.body))
}

// makeDocuments returns the OpenAPI documents (3.1, and 3.0 for code generators) and the documentation page by path.
func (a *API) makeDocuments() (map[string]*document, error) {
	described := a.openAPI(false)
	now, err := json.Marshal(described)
	if err != nil {
		return nil, err
	}
	old, err := a.openAPI(true).Downgrade()
	if err != nil {
		return nil, err
	}
	documents := map[string]*document{}
	for name, text := range map[string][]byte{"/openapi": now, "/openapi-3.0": old} {
		var asYAML bytes.Buffer
		if err := yaml.Convert(&asYAML, bytes.NewReader(text)); err != nil {
			return nil, err
		}
		documents[name+".json"] = &document{jsonType, text}
		documents[name+".yaml"] = &document{"application/yaml", asYAML.Bytes()}
	}
	page, err := a.makePage(described.Components.Schemas.Map())
	if err != nil {
		return nil, err
	}
	style, err := pageFiles.ReadFile("docs/page.css")
	if err != nil {
		return nil, err
	}
	documents["/docs"] = &document{"text/html; charset=utf-8", page}
	documents["/docs.css"] = &document{"text/css; charset=utf-8", style}
	return documents, nil
}
