package explorer

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/internal/humanize"
)

// functions are the functions of templates.
var functions = template.FuncMap{
	"count":      func(n any) string { return humanize.Thousands(fmt.Sprint(n)) },
	"number":     func(n *uint64) string { return humanize.Count(*n) },
	"unit":       assetUnit,
	"sum":        formatTotal,
	"assetCount": assetCount,
	"text":       func(s string) link { return link{Text: s} },
	"amountOf":   amountOf,
	"plural":     format.Plural,
	"bytes":      func(n any) string { return humanize.Bytes(reflect.ValueOf(n).Int()) },
	"join":       strings.Join,
	"base":       format.BaseSize,
	"qr":         charts.QR,
	"certs":      func(p *page, rows []eventRow) certificates { return certificates{p.V, rows} },
	"sub":        func(a, b int) int { return a - b },
	"sentence":   format.Sentence,
	"words":      format.Words,
	"many":       format.ManyOf,
	"capital":    format.Capital,
	"title":      func(name string) string { return format.Capital(format.Words(name)) },
}

// readTemplates parses the templates of each kind of page.
func (s *site) readTemplates() error {
	base, err := template.New("layout.html").Funcs(functions).ParseFS(templates, "templates/*.html")
	if err != nil {
		return err
	}
	names, err := fs.Glob(templates, "templates/pages/*.html")
	if err != nil {
		return err
	}
	s.kinds = make(map[string]*template.Template, len(names))
	for _, name := range names {
		kind, err := base.Clone()
		if err == nil {
			kind, err = kind.ParseFS(templates, name)
		}
		if err != nil {
			return err
		}
		s.kinds[strings.TrimSuffix(path.Base(name), ".html")] = kind
	}
	return nil
}

// buffers hold rendered pages, so that a page that fails is not sent in part.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// send renders a page and sends it.
func (s *site) send(w http.ResponseWriter, r *http.Request, p *page) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	if err := s.render(b, p); err != nil {
		s.Log.Error("page failed", "path", loggedPath(r), "error", err)
		http.Error(w, "Internal error.", http.StatusInternalServerError)
		return
	}
	s.write(w, r, p, "", b)
}

// render writes a page to b. Templates may read the snapshot of the page's visit.
func (s *site) render(b *bytes.Buffer, p *page) error {
	b.Reset()
	if c := p.Chain; c != nil {
		for i := range c.Nav {
			c.Nav[i].Current = p.Section != "" && c.Nav[i].URL == c.URL+"/"+p.Section || p.Kind == "home" && c.Nav[i].URL == c.URL
		}
	}
	return s.kinds[p.Kind].Execute(b, p)
}

// write sends a rendered page.
func (s *site) write(w http.ResponseWriter, r *http.Request, p *page, tag string, b *bytes.Buffer) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	if tag != "" {
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache")
	} else {
		h.Set("Cache-Control", "no-store")
	}
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // fails only if the client is gone
	}
}

// pseudoVersion matches the version of a build without release tag: base version, time and commit.
var pseudoVersion = regexp.MustCompile(`^v[0-9.]+-(?:.*\.)?[0-9]{14}-([0-9a-f]{12}.*)$`)

// Build returns the version for the footer: the release, or else the commit.
func (s *site) Build() string { return pseudoVersion.ReplaceAllString(s.Version, "$1") }

func (s *site) Stylesheet() string { return s.BasePath + s.static.Path("style.css") }

// Script returns the path of a script.
func (s *site) Script(name string) string { return s.BasePath + s.static.Path(name) }

func (s *site) Icon() string { return s.BasePath + s.static.Path("icon.svg") }

// LogoPath returns the path of the logo of the site; empty: it has none of its own.
func (s *site) LogoPath() string {
	if s.Logo == nil {
		return ""
	}
	return s.BasePath + s.static.Path("logo"+s.Logo.Type)
}
