package explorer

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"birthmark/internal/humanize"
)

// functions are what templates can do besides printing.
var functions = template.FuncMap{
	"count":    func(n any) string { return humanize.Thousands(digits(n)) },
	"plural":   func(n any, thing string) string { return plural(n, thing) },
	"bytes":    func(n int) string { return humanize.Bytes(int64(n)) },
	"sentence": sentence,
	"words":    words,
	"title":    func(name string) string { return capital(words(name)) },
}

// digits is a number that templates count.
func digits(n any) string {
	switch n := n.(type) {
	case int:
		return strconv.Itoa(n)
	case int64:
		return strconv.FormatInt(n, 10)
	case uint32:
		return strconv.FormatUint(uint64(n), 10)
	case uint64:
		return strconv.FormatUint(n, 10)
	case string:
		return n
	}
	panic(fmt.Sprintf("a %T is counted", n)) // the page fails: one with a blank would not be noticed
}

func plural(n any, thing string) string {
	text := digits(n)
	if text != "1" {
		thing += "s"
	}
	return humanize.Thousands(text) + " " + thing
}

// sentence begins with a capital and ends with a full stop, as errors do not.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = capital(s)
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// readTemplates parses a set for each kind of page: its file over the layout and the pieces.
func (s *site) readTemplates() error {
	base, err := template.New("layout.html").Funcs(functions).ParseFS(files, "templates/*.html")
	if err != nil {
		return err
	}
	names, err := fs.Glob(files, "templates/pages/*.html")
	if err != nil {
		return err
	}
	s.kinds = make(map[string]*template.Template, len(names))
	for _, name := range names {
		kind, err := base.Clone()
		if err == nil {
			kind, err = kind.ParseFS(files, name)
		}
		if err != nil {
			return err
		}
		s.kinds[strings.TrimSuffix(path.Base(name), ".html")] = kind
	}
	return nil
}

// buffers hold pages until they are whole: one that fails half way is none.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// send renders a page and sends it.
func (s *site) send(w http.ResponseWriter, r *http.Request, p *page, tag string) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if c := p.Chain; c != nil {
		for i := range c.Nav {
			c.Nav[i].Current = p.Section != "" && c.Nav[i].URL == c.URL+"/"+p.Section || p.Kind == "home" && c.Nav[i].URL == c.URL
		}
	}
	if err := s.kinds[p.Kind].Execute(b, p); err != nil {
		s.Log.Error("page failed", "path", r.URL.Path, "error", err)
		http.Error(w, "Internal error.", http.StatusInternalServerError)
		return
	}
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
		_, _ = w.Write(b.Bytes()) // who asked is gone where this fails
	}
}

// pseudoVersion is what Go calls a build of no release: a base version, the time and the hash of the commit.
var pseudoVersion = regexp.MustCompile(`^v[0-9.]+-(?:.*\.)?[0-9]{14}-([0-9a-f]{12}.*)$`)

// Build is the version for the foot of pages: a release as it is called, or else its commit.
func (s *site) Build() string { return pseudoVersion.ReplaceAllString(s.Version, "$1") }

// Stylesheet is the path of the style sheet.
func (s *site) Stylesheet() string { return s.staticPath("style.css") }

// Script is the path of the script that keeps an open page up to date.
func (s *site) Script() string { return s.staticPath("live.js") }

// Icon is the path of the mark that stands for the site.
func (s *site) Icon() string { return s.staticPath("icon.svg") }
