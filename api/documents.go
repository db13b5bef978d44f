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

func (a *API) serveDocument(w http.ResponseWriter, r *http.Request, d *document) {
	w.Header()["Content-Type"] = []string{d.contentType}
	body := a.addressed(d.body, r)
	send(w, r, body, tagBody(w, r, body))
}

// makeDocuments returns the OpenAPI documents (3.1, and 3.0 for code generators) by path, and makes the documentation.
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
	a.reference, err = a.makeDocumentation(described.Components.Schemas.Map())
	return documents, err
}
