package docs

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/api/problem"
)

const schemaPrefix = "#/components/schemas/"

// about describes the API.
const about = "Query blocks, transactions, outputs, balances and assets. The answers are those of the command line."

// openAPI returns the OpenAPI 3.1 document, made from the operations and the types of their answers. plain: the document
// can be downgraded to 3.0 for code generators. Generators make types for each response of an operation, so that all
// error responses are the default response then.
func (o *Docs) openAPI(plain bool) *huma.OpenAPI {
	registry := huma.NewMapRegistry(schemaPrefix, schemaName)
	registry.RegisterTypeAlias(optionalSpentBy, spentBy)
	registry.RegisterTypeAlias(optionalPendingSpentBy, pendingSpentBy)
	d := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Birthmark", Version: "v1",
			Description: about,
			License:     &huma.License{Name: "Apache 2.0"},
		},
		Servers:    []*huma.Server{{URL: DefaultAddress, Description: "the server of this document"}},
		Components: &huma.Components{Schemas: registry, Responses: map[string]*huma.Response{}},
	}
	if o.Keys != NoKeys {
		d.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
			"bearer": {Type: "http", Scheme: "bearer"},
			"key":    {Type: "apiKey", In: "header", Name: "X-API-Key"},
			"basic":  {Type: "http", Scheme: "basic", Description: "The key is the password; any user."},
		}
		d.Security = []map[string][]string{{"bearer": {}}, {"key": {}}, {"basic": {}}}
		if o.Keys == KeysOptional {
			d.Security = append(d.Security, map[string][]string{})
		}
	}
	for _, t := range tags {
		d.Tags = append(d.Tags, &huma.Tag{Name: t.name, Description: t.doc})
	}
	problems := registry.Schema(reflect.TypeFor[problem.Problem](), true, "")
	docs := map[string]string{"Problem": "An error, identified by its code."}
	if !plain {
		docs, d.Info.License.Identifier = problemDocs, "Apache-2.0"
	}
	for name, doc := range docs {
		d.Components.Responses[name] = &huma.Response{
			Description: doc, Content: map[string]*huma.MediaType{problem.ContentType: {Schema: problems}},
		}
	}
	end := registry.Schema(reflect.TypeOf(o.StreamEnd), true, "")
	d.AddOperation(&huma.Operation{
		OperationID: "chains", Method: http.MethodGet, Path: "/v1", Tags: []string{"chain"},
		Summary: "List chains", Description: "The chains of this server with their names in paths and their tips.",
		Responses: map[string]*huma.Response{
			"200":     answerOf(registry.Schema(reflect.TypeOf(o.ListChains), true, ""), false),
			"304":     {Description: notModified},
			"default": {Ref: "#/components/responses/Problem"},
		},
	})
	d.AddOperation(&huma.Operation{
		OperationID: "chain", Method: http.MethodGet, Path: "/v1/{chain}", Tags: []string{"chain"},
		Summary: "Get a chain", Description: "The chain, its tip and its operations.",
		Parameters: []*huma.Param{o.ChainParam},
		Responses: map[string]*huma.Response{
			"200":     answerOf(registry.Schema(reflect.TypeOf(o.GetChain), true, ""), false),
			"304":     {Description: notModified},
			"default": {Ref: "#/components/responses/Problem"},
		},
	})
	all := &huma.Operation{
		OperationID: "searchAll", Method: http.MethodGet, Path: "/v1/search", Tags: []string{"chain"},
		Summary:     "Search in all chains",
		Description: "The results of a search in each chain of this server. Chains without results are omitted.",
		Parameters:  []*huma.Param{o.SearchParam},
		Responses: map[string]*huma.Response{
			"200":     answerOf(registry.Schema(reflect.TypeOf(o.Search), true, ""), false),
			"304":     {Description: notModified},
			"400":     {Ref: "#/components/responses/BadRequest"},
			"default": {Ref: "#/components/responses/Problem"},
		},
	}
	if plain {
		delete(all.Responses, "400")
	}
	d.AddOperation(all)
	for _, op := range o.Operations {
		described := op.describe(registry, end)
		if plain {
			maps.DeleteFunc(described.Responses, func(status string, r *huma.Response) bool { return r.Ref != "" && status != "default" })
		}
		d.AddOperation(described)
	}
	finish(registry.Map(), plain)
	return d
}

const notModified = "`If-None-Match` has the current `ETag`."

// problemDocs describe the error responses.
var problemDocs = map[string]string{
	"BadRequest":       "Invalid request: an unknown parameter or index, or an invalid value or cursor. The command line exits with 2.",
	"NotFound":         "Not found: an unknown block, transaction, output or asset, or an unknown chain or path. The command line exits with 1.",
	"NotAcceptable":    "The operation has none of the formats in `Accept`.",
	"TooLarge":         "The body exceeds the size limit.",
	"UnsupportedMedia": "The body is not `application/json`.",
	"Problem":          "Any other problem: too many requests (429), overload, a timeout or an unavailable database (503), an internal error (500).",
}

var (
	tipHeader = &huma.Param{Description: "The hash of the tip at which the answer was read. Absent before the first block.", Schema: &huma.Schema{Type: "string"}}
	headers   = map[string]*huma.Param{
		"X-Tip":        tipHeader,
		"X-Tip-Height": {Description: "The height of the tip.", Schema: &huma.Schema{Type: "integer", Format: "int64"}},
	}
	cacheHeaders = withETag(headers)
)

func withETag(headers map[string]*huma.Param) map[string]*huma.Param {
	more := maps.Clone(headers)
	more["ETag"] = &huma.Param{Description: "Changes when the answer can change. Most answers have the hash of the tip as their ETag.", Schema: &huma.Schema{Type: "string"}}
	return more
}

func answerOf(schema *huma.Schema, tipped bool) *huma.Response {
	r := &huma.Response{Description: "The answer.", Content: map[string]*huma.MediaType{TypeJSON: {Schema: schema}}}
	if tipped {
		r.Headers = cacheHeaders
	}
	return r
}

// describe returns the operation with its request body and responses.
func (op *Operation) describe(registry huma.Registry, end *huma.Schema) *huma.Operation {
	o := op.Operation
	problems := map[string]string{"400": "BadRequest", "404": "NotFound", "406": "NotAcceptable", "default": "Problem"}
	if op.Answer == nil {
		o.Responses = map[string]*huma.Response{"200": {
			Description: "Events, until the client disconnects or the server stops.",
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}},
		}}
	} else {
		o.Responses = map[string]*huma.Response{"200": answerOf(registry.Schema(reflect.TypeOf(op.Answer), true, ""), true)}
		if op.Node || op.Upload {
			o.Responses["200"].Headers = nil
		}
		if answer := op.exampleAnswer(); answer != nil {
			o.Responses["200"].Content[TypeJSON].Example = json.RawMessage(answer)
		}
	}
	if op.Entry != nil {
		entry := registry.Schema(reflect.TypeOf(op.Entry), true, "")
		o.Responses["200"].Content[TypeStream] = &huma.MediaType{
			Schema:     &huma.Schema{Type: "string", Description: "The list from the cursor on, one " + name(entry) + " per line. The last line is a StreamEnd."},
			Extensions: map[string]any{"x-lines": map[string]any{"anyOf": []any{entry, end}}},
		}
		o.Responses["200"].Content[TypeCSV] = &huma.MediaType{Schema: &huma.Schema{Type: "string",
			Description: "The list from the cursor on with a header, or `limit` entries. If it is incomplete, the connection is cut after a last line, which begins with #."}}
	}
	switch {
	case op.TextBody != "":
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}}
		if !op.Upload {
			problems["413"] = "TooLarge"
		}
	case op.Body != nil:
		body := registry.Schema(reflect.TypeOf(op.Body).Elem(), true, "")
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{TypeJSON: {Schema: body, Example: json.RawMessage(op.Example.Body)}}}
		if !op.Node {
			o.Responses["200"].Headers = headers
		}
		problems["413"], problems["415"] = "TooLarge", "UnsupportedMedia"
	case op.Answer != nil && !op.Node:
		o.Responses["304"] = &huma.Response{Description: notModified}
	}
	for status, name := range problems {
		o.Responses[status] = &huma.Response{Ref: "#/components/responses/" + name}
	}
	return &o
}

func name(ref *huma.Schema) string { return strings.TrimPrefix(ref.Ref, schemaPrefix) }

// schemaName returns the name of a type without the suffix Answer.
func schemaName(t reflect.Type, hint string) string {
	return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Answer")
}

// finish adds to the schemas what Go types do not express.
func finish(schemas map[string]*huma.Schema, plain bool) {
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[name]
		s.Description = schemaDocs[name]
		if !slices.Contains(bodySchemas, name) {
			s.AdditionalProperties = nil // clients must accept new properties of answers
		}
		for property, p := range s.Properties {
			if p.Type == "array" {
				p.Nullable = false // lists are empty, never null
			}
			if nullable[name+"."+property] {
				if p.Type == "array" {
					p.Items = orNull(p.Items, plain)
				} else {
					p = orNull(p, plain)
				}
			}
			p.Description = docOf(name, property)
			s.Properties[property] = p
		}
	}
	ofNode := &huma.Schema{Type: "object", AdditionalProperties: true}
	for property, s := range map[string]*huma.Schema{"Package.result": ofNode, "TestTxs.results": {Type: "array", Items: ofNode}} {
		schema, name, _ := strings.Cut(property, ".")
		s := *s
		s.Description = docOf(schema, name)
		schemas[schema].Properties[name] = &s
	}
	one := &huma.Schema{Type: "string"}
	schemas["Output"].Properties["keys"].AdditionalProperties = &huma.Schema{OneOf: []*huma.Schema{one, {Type: "array", Items: one}}}
	schemas["Block"].Properties["header"].Type = "object"
	schemas["Block"].Properties["header"].AdditionalProperties = true
	most := maxMany
	for _, name := range bodySchemas {
		for _, p := range schemas[name].Properties {
			if p.Type == "array" {
				p.MaxItems = &most
			}
		}
	}
}

func orNull(s *huma.Schema, plain bool) *huma.Schema {
	if plain {
		return &huma.Schema{AllOf: []*huma.Schema{s}, Extensions: map[string]any{"nullable": true}}
	}
	return &huma.Schema{AnyOf: []*huma.Schema{s, {Type: "null"}}}
}
