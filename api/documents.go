package api

import (
	"net/http"
)

// document is one that does not change while the server runs.
type document struct {
	contentType string
	body        []byte
}

func (d *document) serve(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Type"] = []string{d.contentType}
	send(w, r, d.body, tagBody(w, r, d.body))
}

func (a *API) makeDocuments() (map[string]*document, error) {
	return map[string]*document{}, nil
}
