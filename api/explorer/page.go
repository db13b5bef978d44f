package explorer

import (
	"birthmark/internal/humanize"
)

// page is what a function of a [visit] returns: what the frame needs to know, and the body for the template.
type page struct {
	Kind        string // the template: templates/pages/KIND.html
	Title       string // of the window, without the name of the chain
	Description string // one sentence, for who finds the page elsewhere
	JSON        string // the path of the same thing in the API; empty: there is none
	Crumbs      []link // from below the chain's home down to here; the last is the page itself and has no URL
	Query       string // what stands in the search box: what was searched for, on the page that says what was found
	Section     string // of the navigation: the last part of its path
	Body        any    // what the template shows
	Location    string // where the page is, if not here; nothing else counts then
	Status      int    // of the answer; 0: 200
	Follow      string // the query of the events that concern the page, besides blocks
	Volatile    bool   // it shows more than the chain up to the tip: it has no ETag

	frame
}

// frame is what the site puts around the body.
type frame struct {
	Site   *site
	Path   string      // of the page, without the query
	Chain  *chainFrame // nil: the page is of none
	Switch []chainLink
}

// chainFrame is what is said of the chain on all of its pages.
type chainFrame struct {
	Name    string // in paths
	Title   string // for people: Bitcoin testnet4
	Accent  string // the name of the colour: that of the chain
	Unit    humanize.Unit
	URL     string
	Events  string // where the chain's events are
	Tip     *tip   // nil: no block yet
	Syncing *syncing
	Failed  *failed
	Nav     []navLink
}

// chainLink is a chain in the switch.
type chainLink struct {
	URL, Title string
	Current    bool
}

// navLink is a part of a chain.
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

// Amount is an amount of the chain's coin, made for reading.
func (p *page) Amount(n string) amount { return amountOf(p.unit(), n) }

func (p *page) unit() humanize.Unit {
	if p.Chain == nil {
		return humanize.Unit{}
	}
	return p.Chain.Unit
}
