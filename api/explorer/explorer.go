package explorer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/api/served"
	"birthmark/model"
)

// Options configure the explorer.
type Options struct {
	Chains  []*served.Chain // in the order of the navigation; their names begin the paths
	Version string          // of the program, for the footer
	Log     *slog.Logger    // nil: [slog.Default]
	Timeout time.Duration   // for one page; 0: 10 s

	// Docs returns the content of /docs; nil: the path does not exist.
	Docs func(*http.Request) (template.HTML, error)

	BasePath string // prefix of all links, which requests do not have; empty: none
	Title    string // name of the site; empty: Birthmark
	Logo     *Logo  // nil: that of Birthmark
	Notice   string // text at the top of all pages; empty: none
	Pictures string // URL of a gateway of IPFS, with a slash at the end, from which pages of assets load pictures; empty: none

	now func() time.Time // for tests
}

// Logo is the image of a site.
type Logo struct {
	Type string // file name extension: .svg, .png, .jpg or .webp
	Data []byte
}

const defaultTimeout = 10 * time.Second

//go:embed templates static
var files embed.FS

// site is the handler, and what all pages share.
type site struct {
	Options
	kinds  map[string]*template.Template // by kind of page
	static map[string][]byte             // by path, which changes with their content
	build  string                        // hash of templates, static files and version
	fees   map[*served.Chain]*newestFees
}

// route is a kind of page of a chain.
type route struct {
	pattern string // below /NAME
	page    func(*visit) (*page, error)
}

// routes are the pages of a chain.
var routes = []route{
	{"", (*visit).home},
	{"/blocks", (*visit).blocks},
	{"/block/{ref}", (*visit).block},
	{"/tx/{hash}", (*visit).tx},
	{"/output/{ref}", (*visit).output},
	{"/search", (*visit).search},
	{"/address/{value}", (*visit).address},
	{"/address/{value}/history.csv", (*visit).addressCSV},
	{"/index/{index}/{value}", (*visit).indexValue},
	{"/index/{index}/{value}/history.csv", (*visit).indexCSV},
	{"/values/{index}", (*visit).values},
	{"/richest", (*visit).richestAll},
	{"/richest/{index}", (*visit).richest},
	{"/mempool", (*visit).mempool},
	{"/asset/{id}", (*visit).asset},
	{"/assets", (*visit).assets},
	{"/forks", (*visit).forks},
	{"/status", (*visit).status},
}

// New returns the explorer of chains. It fails if the name of a chain cannot be part of a path, or is used twice.
func New(o Options) (http.Handler, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.now == nil {
		o.now = time.Now
	}
	o.Title = cmp.Or(o.Title, "Birthmark")
	s := &site{Options: o, fees: map[*served.Chain]*newestFees{}}
	for _, c := range o.Chains {
		s.fees[c] = new(newestFees)
	}
	names := map[string]bool{"search": true, "static": true, "favicon.ico": true, "robots.txt": true, "docs": true, "": true}
	for _, c := range o.Chains {
		if names[c.Name] || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			return nil, fmt.Errorf("chain name %q cannot be part of a path", c.Name)
		}
		names[c.Name] = true
	}
	if err := s.readStatic(); err != nil {
		return nil, err
	}
	if err := s.readTemplates(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.reading(s.front))
	mux.HandleFunc("/search", s.reading(s.searchAll))
	mux.HandleFunc("/static/", s.reading(s.serveStatic))
	mux.Handle("/favicon.ico", http.RedirectHandler(s.Icon(), http.StatusFound)) // browsers request it for documents without an icon
	if o.Docs != nil {
		mux.HandleFunc("/docs", s.reading(s.docs))
		mux.Handle("/docs/{$}", http.RedirectHandler(s.BasePath+"/docs", http.StatusMovedPermanently))
	}
	mux.HandleFunc("/robots.txt", s.reading(s.robots))
	mux.HandleFunc("/", s.reading(s.unknownChain))
	for _, c := range o.Chains {
		base := "/" + c.Name
		for _, r := range routes {
			mux.HandleFunc(base+r.pattern, s.reading(s.chainPage(c, r.page)))
		}
		mux.HandleFunc(base+"/", s.reading(s.chainPage(c, (*visit).unknownPath)))
		mux.Handle(base+"/{$}", http.RedirectHandler(s.BasePath+base, http.StatusMovedPermanently))
	}
	return mux, nil
}

// readStatic reads the embedded files; their paths contain the digest of all of them.
func (s *site) readStatic() error {
	sum := sha256.New()
	found := map[string][]byte{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(name)
		if name == "static/style.css" {
			b = slices.Concat(b, []byte(charts.Style), s.accents())
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(b), b)
		if rest, ok := strings.CutPrefix(name, "static/"); ok {
			found[rest] = b
		}
		return err
	})
	if s.Logo != nil {
		found["logo"+s.Logo.Type] = s.Logo.Data
		sum.Write(s.Logo.Data)
	}
	fmt.Fprintf(sum, "%q", []string{s.Version, s.BasePath, s.Title, s.Notice, s.Pictures})
	s.build, s.static = hex.EncodeToString(sum.Sum(nil))[:10], map[string][]byte{}
	for name, b := range found {
		s.static[s.staticPath(name)] = b
	}
	return err
}

// accents returns the style rules for the colors of chains; a page names its chain in data-accent.
func (s *site) accents() []byte {
	var rules bytes.Buffer
	done := map[string]bool{}
	for _, c := range s.Chains {
		name, a := c.Model.Name(), c.Model.Traits().Accent
		if a == (model.Accent{}) || done[name] {
			continue
		}
		done[name] = true
		fmt.Fprintf(&rules, "[data-accent=%s] { --accent: light-dark(%s, %s); --wash: light-dark(%s, %s); }\n",
			name, a.Light, a.Dark, a.LightWash, a.DarkWash)
	}
	return rules.Bytes()
}

// staticPath returns the path of a static file without [Options.BasePath].
func (s *site) staticPath(name string) string { return "/static/" + s.build + "/" + name }

// docs serves the reference of the API.
func (s *site) docs(w http.ResponseWriter, r *http.Request) {
	body, err := s.Docs(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	p := &page{Kind: "docs", Title: "API", Description: "Reference of the HTTP API with examples.", Body: body, frame: s.frameOf(r)}
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	if err := s.render(b, p); err != nil {
		s.fail(w, r, err)
		return
	}
	sum := sha256.Sum256(b.Bytes())
	tag := `W/"` + hex.EncodeToString(sum[:8]) + `"`
	if served.MatchesETag(r.Header["If-None-Match"], tag) {
		w.Header().Set("ETag", tag)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.write(w, r, p, tag, b)
}

// robots serves robots.txt, which crawlers request at the root of a host only. Searches and the API have no pages of their
// own, and a crawler could request them without end.
func (s *site) robots(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	fmt.Fprintf(w, "User-agent: *\nDisallow: %[1]s/v1/\nDisallow: %[1]s/search\nDisallow: %[1]s/*/search\n", s.BasePath)
}

// serveStatic serves static files, which are immutable.
func (s *site) serveStatic(w http.ResponseWriter, r *http.Request) {
	b, ok := s.static[r.URL.Path]
	if !ok {
		s.unknownChain(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(b))
}
