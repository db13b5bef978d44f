package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed page.html
var pageText string

// exampleFiles are the answers of the examples over the first 14,132 blocks of Bitcoin, by operation id. A test checks them.
//
//go:embed examples/*.json
var exampleFiles embed.FS

// page is the data of the documentation page.
type page struct {
	Base   string // [Options.BasePath]
	Filter string
	Keys   string // whether API keys are needed; empty: no
	About  string
	Chains []string
	Groups []pageGroup
	Types  map[string]*huma.Schema
}

type pageGroup struct {
	Name, Title, Doc string
	Operations       []pageOperation
}

type pageOperation struct {
	huma.Operation
	Short, Type, Curl, Answer string // Type is the type of the answer
	List                      bool
}

// documentation is the documentation page without the address of the server.
type documentation struct {
	text *template.Template
	page
}

func (d *Docs) makePage(schemas map[string]*huma.Schema) (p documentation, err error) {
	p.text, err = template.New("docs").Funcs(template.FuncMap{"code": inCode, "type": typeOf, "in": slices.Contains[[]string]}).Parse(pageText)
	if err != nil {
		return p, err
	}
	p.page = page{Base: d.BasePath, About: about, Chains: d.Chains, Types: schemas}
	switch d.Keys {
	case KeysOptional:
		p.Keys = "Requests with a key have limits of their own."
	case KeysRequired:
		p.Keys = "Every request needs a key."
	}
	for _, tag := range tags {
		g := pageGroup{Name: tag.name, Title: tag.title, Doc: tag.doc}
		for _, op := range d.Operations {
			if op.Tags[0] == tag.name {
				shown, err := op.page()
				if err != nil {
					return p, err
				}
				g.Operations = append(g.Operations, shown)
			}
		}
		p.Groups = append(p.Groups, g)
	}
	return p, nil
}

// Page returns the reference of the operations, as the content of a page, which needs no scripts and no other
// servers. The parameter q of the request selects the operations with that text.
func (d *Docs) Page(r *http.Request) (template.HTML, error) {
	p := d.page.page
	if p.Filter = strings.TrimSpace(r.URL.Query().Get("q")); p.Filter != "" {
		var groups []pageGroup
		for _, g := range p.Groups {
			all := g.Operations
			g.Operations = nil
			for _, op := range all {
				if op.matches(strings.ToLower(p.Filter)) {
					g.Operations = append(g.Operations, op)
				}
			}
			if len(g.Operations) > 0 {
				groups = append(groups, g)
			}
		}
		p.Groups = groups
	}
	var b bytes.Buffer
	err := d.page.text.Execute(&b, &p)
	return template.HTML(d.addressed(b.Bytes(), r)), err
}

// matches reports whether the texts of the operation contain text, which is in lower case.
func (op *pageOperation) matches(text string) bool {
	all := []string{op.OperationID, op.Method, op.Path, op.Summary, op.Description, op.Type}
	for _, p := range op.Parameters {
		all = append(all, p.Name)
	}
	return strings.Contains(strings.ToLower(strings.Join(all, " ")), text)
}

func (op *Operation) page() (pageOperation, error) {
	p := pageOperation{Operation: op.Operation, Short: op.below()[1:], List: op.Entry != nil, Curl: op.curl()}
	if op.Answer != nil {
		p.Type = schemaName(reflect.TypeOf(op.Answer), "")
	}
	answer := op.exampleAnswer()
	if answer == nil {
		return p, nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, answer, "", "  "); err != nil {
		return p, fmt.Errorf("example of %s: %w", op.OperationID, err)
	}
	p.Answer = strings.TrimSpace(b.String())
	return p, nil
}

// exampleAnswer returns the answer of the example; nil if there is none.
func (op *Operation) exampleAnswer() []byte {
	text, err := exampleFiles.ReadFile("examples/" + op.OperationID + ".json")
	if err != nil {
		return nil
	}
	return text
}

// below returns the path below a chain.
func (op *Operation) below() string { return strings.TrimPrefix(op.Path, "/v1/{chain}") }

// curl returns a command line for the example.
func (op *Operation) curl() string {
	const server = DefaultAddress + "/v1/bitcoin"
	path, body := op.below(), ""
	if op.Example.Path != "" {
		path, body = op.Example.Path, op.Example.Body
	} else {
		for _, arg := range op.Parameters {
			value, ok := arg.Example.(string)
			if !ok {
				value = strings.ToUpper(arg.Name)
			}
			path = strings.Replace(path, "{"+arg.Name+"}", url.PathEscape(value), 1)
		}
	}
	quoted := server + path
	if strings.ContainsAny(path, "?&") {
		quoted = "'" + quoted + "'"
	}
	switch {
	case op.TextBody != "":
		return "curl " + quoted + " -H 'Content-Type: text/plain' -d '" + op.TextBody + "'"
	case op.Method == http.MethodPost:
		return fmt.Sprintf("curl %s -H 'Content-Type: %s' -d '%s'", quoted, TypeJSON, body)
	case op.Answer == nil:
		return "curl -N " + quoted
	}
	return "curl " + quoted
}

// inCode renders a text with backquoted parts as code.
func inCode(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = template.HTMLEscapeString(part)
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}

// typeOf returns a type in words, with links to other types.
func typeOf(s *huma.Schema) template.HTML {
	switch {
	case s.Ref != "":
		of := template.HTML(template.HTMLEscapeString(name(s)))
		return `<a href="#type-` + of + `">` + of + `</a>`
	case len(s.AnyOf) > 0: // see orNull
		return typeOf(s.AnyOf[0]) + " or null"
	case s.Nullable:
		plain := *s
		plain.Nullable = false
		return typeOf(&plain) + " or null"
	case s.Type == huma.TypeArray:
		return "list of " + typeOf(s.Items)
	case s.Type == huma.TypeString:
		return "text"
	case s.Type == huma.TypeInteger:
		return "number"
	case s.Type == huma.TypeBoolean:
		return "true or false"
	}
	return template.HTML(template.HTMLEscapeString(s.Type))
}
