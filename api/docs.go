package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs/page.html docs/page.css
var pageFiles embed.FS

// exampleFiles are the answers of the examples over the first 14,132 blocks of Bitcoin, by operation id. A test checks them.
//
//go:embed examples/*.json
var exampleFiles embed.FS

// page is the data of the documentation page.
type page struct {
	About  string
	Chains []string
	Groups []pageGroup
	Types  []pageType
}

type pageGroup struct {
	Name, Title, Doc string
	Operations       []pageOperation
}

type pageOperation struct {
	ID, Method, Path, Short, Summary, Doc string
	List                                  bool
	Parameters                            []pageParameter
	Type                                  string // of the answer
	Curl, Answer                          string
}

type pageParameter struct {
	Name, In, Doc, Default string
	Many                   bool
}

// makePage renders the documentation, which needs no scripts and no other servers.
func (a *API) makePage(schemas map[string]*huma.Schema) ([]byte, error) {
	text, err := pageFiles.ReadFile("docs/page.html")
	if err != nil {
		return nil, err
	}
	t, err := template.New("docs").Funcs(template.FuncMap{"code": inCode}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	p := page{About: about, Types: pageTypes(schemas)}
	for _, c := range a.Chains {
		p.Chains = append(p.Chains, c.Name)
	}
	for _, tag := range tags {
		g := pageGroup{Name: tag.name, Title: tag.title, Doc: tag.doc}
		for _, op := range a.listed {
			if op.tag == tag.name {
				shown, err := op.page()
				if err != nil {
					return nil, err
				}
				g.Operations = append(g.Operations, shown)
			}
		}
		p.Groups = append(p.Groups, g)
	}
	var b bytes.Buffer
	err = t.Execute(&b, &p)
	return b.Bytes(), err
}

func (op *operation) page() (pageOperation, error) {
	p := pageOperation{
		ID: op.id, Method: op.method, Path: op.pattern, Short: strings.TrimPrefix(op.path, "/"), Summary: op.summary, Doc: op.doc,
		List: op.entries != nil, Curl: op.curl(),
	}
	if op.answer != nil {
		p.Type = schemaName(reflect.TypeOf(op.answer), "")
	}
	for _, arg := range op.args {
		p.Parameters = append(p.Parameters, pageParameter{Name: arg.name, In: "path", Doc: arg.doc})
	}
	for _, q := range op.query {
		shown := pageParameter{Name: q.name, In: "query", Doc: q.doc, Many: q.many}
		if q.fallback != nil {
			shown.Default = fmt.Sprint(q.fallback)
		}
		p.Parameters = append(p.Parameters, shown)
	}
	answer := op.exampleAnswer()
	if answer == nil {
		return p, nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, answer, "", "  "); err != nil {
		return p, fmt.Errorf("example of %s: %w", op.id, err)
	}
	p.Answer = strings.TrimSpace(b.String())
	return p, nil
}

// exampleAnswer returns the answer of the example; nil if there is none.
func (op *operation) exampleAnswer() []byte {
	text, err := exampleFiles.ReadFile("examples/" + op.id + ".json")
	if err != nil {
		return nil
	}
	return text
}

// curl returns a command line for the example.
func (op *operation) curl() string {
	const server = "http://127.0.0.1:8080/v1/bitcoin"
	path, body := op.path, ""
	if op.example.path != "" {
		path, body = op.example.path, op.example.body
	} else {
		for _, arg := range op.args {
			value := url.PathEscape(arg.example)
			if value == "" {
				value = strings.ToUpper(arg.name)
			}
			path = strings.Replace(path, "{"+arg.name+"}", value, 1)
		}
	}
	quoted := server + path
	if strings.ContainsAny(path, "?&") {
		quoted = "'" + quoted + "'"
	}
	switch {
	case op.method == http.MethodPost:
		return fmt.Sprintf("curl %s -H 'Content-Type: %s' -d '%s'", quoted, jsonType, body)
	case op.stream:
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
