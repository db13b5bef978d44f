package explorer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"birthmark/api/explorer/static"
	"birthmark/api/served"
)

// Options configure the explorer.
type Options struct {
	Chains  []*served.Chain // in the order of the navigation; their names begin the paths
	Version string          // of the program, for the footer
	Log     *slog.Logger    // nil: [slog.Default]
	Timeout time.Duration   // for one page; 0: 10 s

	// Docs returns the content of /docs; nil: the path does not exist.
	Docs func(*http.Request) (template.HTML, error)

	API http.Handler // of /v1, which streams CSV; nil: pages have no CSV

	BasePath string            // prefix of all links, which requests do not have; empty: none
	Title    string            // name of the site; empty: Birthmark
	Logo     *static.Logo      // nil: Birthmark's
	Notice   string            // text at the top of all pages; empty: none
	Pictures string            // URL of a gateway of IPFS, with a slash at the end, from which pages of assets load pictures; empty: none
	Labels   map[string]string // names of addresses and other values, which pages show beside them

	now func() time.Time // for tests
}

const defaultTimeout = 10 * time.Second

//go:embed templates
var templates embed.FS

// site is the handler, and what all pages share.
type site struct {
	Options
	kinds  map[string]*template.Template // by kind of page
	static *static.Files
	fees   map[*served.Chain]*newestFees
	sums   map[*served.Chain]*blockSums
	hider  hider
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
	{"/address/{value}", (*visit).address},
	{"/index/{index}/{value}", (*visit).indexValue},
	{"/values/{index}", (*visit).values},
	{"/richest", (*visit).richestAll},
	{"/richest/{index}", (*visit).richest},
	{"/mempool", (*visit).mempool},
	{"/asset/{id}", (*visit).asset},
	{"/assets", (*visit).assets},
	{"/charts", (*visit).charts},
	{"/charts/{series}", (*visit).series},
	{"/producers", (*visit).allProducers},
	{"/producers/{name}", (*visit).producer},
	{"/governance", (*visit).governance},
	{"/governance/{name}", (*visit).party},
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
	s := &site{Options: o, fees: map[*served.Chain]*newestFees{}, sums: map[*served.Chain]*blockSums{}}
	var err error
	if s.hider, err = newHider(); err != nil {
		return nil, err
	}
	for _, c := range o.Chains {
		s.fees[c], s.sums[c] = new(newestFees), newBlockSums()
	}
	names := map[string]bool{"search": true, "static": true, "favicon.ico": true, "robots.txt": true, "docs": true, "": true}
	for _, c := range o.Chains {
		if names[c.Name] || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			return nil, fmt.Errorf("chain name %q cannot be part of a path", c.Name)
		}
		names[c.Name] = true
	}
	if err := s.readFiles(); err != nil {
		return nil, err
	}
	if err := s.readTemplates(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.reading(s.front))
	mux.HandleFunc("/search", s.reading(s.searchAll, http.MethodPost))
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
		mux.HandleFunc(base+"/tx/{hash}/inscription/{number}", s.reading(s.inscription(c)))
		mux.HandleFunc(base+"/search", s.reading(s.chainPage(c, (*visit).search), http.MethodPost))
		if s.API != nil {
			mux.HandleFunc(base+"/broadcast", s.reading(s.broadcast(c), http.MethodPost))
			for _, list := range []string{"balance", "find"} {
				mux.HandleFunc(base+"/address/{value}/"+list+".json", s.reading(s.answerOf(c, list)))
			}
			mux.HandleFunc(base+"/address/{value}/history.csv", s.reading(s.historyCSV(c)))
			mux.HandleFunc(base+"/index/{index}/{value}/history.csv", s.reading(s.historyCSV(c)))
			mux.HandleFunc(base+"/charts/{value}/numbers.csv", s.reading(s.seriesCSV(c)))
		}
		mux.HandleFunc(base+"/", s.reading(s.chainPage(c, (*visit).unknownPath)))
		mux.Handle(base+"/{$}", http.RedirectHandler(s.BasePath+base, http.StatusMovedPermanently))
	}
	return mux, nil
}

// readFiles reads the static files; their paths contain the digest of everything on pages that is not of a chain.
func (s *site) readFiles() (err error) {
	s.static, err = static.New(s.Chains, s.Logo, templates,
		s.Version, s.BasePath, s.Title, s.Notice, s.Pictures, fmt.Sprint(s.Labels))
	return err
}

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
	if !s.static.Send(w, r) {
		s.unknownChain(w, r)
	}
}
