package docs

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"
)

// Media types of answers.
const (
	TypeJSON   = "application/json"
	TypeStream = "application/x-ndjson"
	TypeCSV    = "text/csv"
)

// Operation is an operation about a chain as the documents describe it. Body and responses of its [huma.Operation] are
// made from the other members.
type Operation struct {
	huma.Operation

	Answer   any    // a value of the type of the answer; nil: a stream of events
	Entry    any    // a value of the type of an entry; nil: the answer is not a list with pages
	Body     any    // a pointer to the type of the request body; nil: it has none of JSON
	TextBody string // example of a body that is text; empty: it has none
	Upload   bool   // the text has no limit of size
	Node     bool   // the node answers, and not the database
	Example  Example
}

// Example is a request whose answer the documentation shows; no path: none.
type Example struct {
	Path string // below /v1/{chain}
	Body string // of a POST
}

// Keys is whether requests need API keys.
type Keys int

// Whether requests need API keys.
const (
	NoKeys Keys = iota
	KeysOptional
	KeysRequired
)

// Options configure the documents.
type Options struct {
	Operations []*Operation // in the order of the documentation
	Chains     []string     // names
	Keys       Keys

	BasePath string                     // prefix of the paths as clients see them
	Address  func(*http.Request) string // of the server; nil: [DefaultAddress]

	// Operations that are not about one chain, by values of their answers and their parameter.
	ListChains, GetChain, Search any
	ChainParam, SearchParam      *huma.Param

	StreamEnd any // a value of the last line of streamed lists
}

// Docs are the OpenAPI documents and the documentation page of an API.
type Docs struct {
	Options
	Files map[string]*File // by path
	page  documentation
}

// File is an OpenAPI document.
type File struct {
	Type string // media type
	body []byte
}

// New makes the documents: OpenAPI 3.1, and 3.0 for code generators.
func New(o Options) (*Docs, error) {
	d := &Docs{Options: o, Files: map[string]*File{}}
	described := d.openAPI(false)
	now, err := json.Marshal(described)
	if err != nil {
		return nil, err
	}
	old, err := d.openAPI(true).Downgrade()
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"/openapi": now, "/openapi-3.0": old} {
		var asYAML bytes.Buffer
		if err := yaml.Convert(&asYAML, bytes.NewReader(text)); err != nil {
			return nil, err
		}
		d.Files[name+".json"] = &File{TypeJSON, text}
		d.Files[name+".yaml"] = &File{"application/yaml", asYAML.Bytes()}
	}
	d.page, err = d.makePage(described.Components.Schemas.Map())
	return d, err
}

// DefaultAddress is the address of the server in documents and examples, which the server replaces by its own.
const DefaultAddress = "http://127.0.0.1:8080"

// Content returns a document for the client of a request.
func (d *Docs) Content(f *File, r *http.Request) []byte { return d.addressed(f.body, r) }

// addressed returns a document with the address by which the client reached the server.
func (d *Docs) addressed(document []byte, r *http.Request) []byte {
	if d.Address == nil {
		return document
	}
	return bytes.ReplaceAll(document, []byte(DefaultAddress), []byte(d.Address(r)+d.BasePath))
}
