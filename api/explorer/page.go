package explorer

import (
	"birthmark/internal/humanize"
)

// page is the result of a page method of [visit]: the body for the template, and data for the frame.
type page struct {
	Kind        string // the template: templates/pages/KIND.html
	Title       string // of the window, without the name of the chain
	Description string // one sentence, for search engines
	JSON        string // path of the same data in the API; empty: none
	Crumbs      []link // below the home page of the chain; the last is the page itself, without URL
	Query       string // text of the search box
	Section     string // of the navigation: the last part of its path
	Body        any    // data of the template
	Location    string // redirect; other fields are ignored then
	Status      int    // of the answer; 0: 200
	Follow      string // query of events that concern the page, in addition to blocks
	Volatile    bool   // not determined by the tip: no ETag
	LacksRaw    bool   // details are missing, since the database has no raw transactions

	frame
}

// Hero reports whether the search box is part of the page instead of its head.
func (p *page) Hero() bool { return p.Kind == "home" || p.Kind == "front" }

// frame is the data of the layout.
type frame struct {
	Site   *site
	Path   string      // of the page, without the query
	Chain  *chainFrame // nil: a page without a chain
	Switch []chainLink
	V      *visit // with Chain
}

// chainFrame is the data of a chain on all its pages.
type chainFrame struct {
	Name    string // in paths
	Title   string // such as Bitcoin testnet4
	Accent  string // value of data-accent: the name of the chain
	Unit    humanize.Unit
	URL     string
	Events  string // path of the events
	ByRate  bool   // miners select transactions by fee rate
	Tip     *tip   // nil: no block yet
	Syncing *syncing
	Failed  *failed
	Nav     []navLink
}

// chainLink is a chain in the navigation.
type chainLink struct {
	URL, Title string
	Current    bool
}

// navLink is a section of a chain.
type navLink struct {
	link
	Current bool
}

// tip is the newest block.
type tip struct {
	Height uint32
	Hash   link
	Time   moment
}
