package explorer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"birthmark/api/explorer/format"
	"birthmark/api/served"
	"birthmark/core/meter"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// visit is a request for a page of a chain, served from one snapshot.
type visit struct {
	*query.View
	ctx    context.Context
	req    *http.Request
	w      http.ResponseWriter
	site   *site
	chain  *served.Chain
	unit   humanize.Unit
	late   bool      // a part of the page timed out: no ETag
	hidden string    // the value that is hidden in the path of the page
	fault  error     // of a read whose caller cannot return it; the page fails
	now    time.Time // truncated to the minute, so that ages on a page change once a minute
	long   int       // characters of the paths of long values in the lists of the page

	governed *bool // linksGovernance; nil: not known yet

	overlay *pending.Overlay // for the tip of the snapshot; nil: the chain has no mempool
}

// visit returns the visit of a request, without a snapshot.
func (s *site) visit(ctx context.Context, r *http.Request, chain *served.Chain) *visit {
	return &visit{ctx: ctx, req: r, site: s, chain: chain, unit: humanize.UnitOf(chain.Model), now: s.now().Truncate(time.Minute)}
}

// open calls fn with a snapshot, and sets the overlay for its tip.
func (v *visit) open(fn func(*query.View) error) error {
	return v.chain.Newest(v.ctx, func(view *query.View, o *pending.Overlay) error {
		v.overlay = o
		return fn(view)
	})
}

// errUnmodified is returned if the client has the page.
var errUnmodified = errors.New("not modified")

// chainPage serves one kind of page of a chain.
func (s *site) chainPage(chain *served.Chain, build func(*visit) (*page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
		defer cancel()
		v := s.visit(ctx, r, chain)
		v.w = w
		if h := w.Header(); s.Pictures != "" { // also of answers without a body, which replace the headers of a stored page
			h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "img-src 'self'", "img-src 'self' "+s.Pictures, 1))
		}
		b := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(b)
		var p *page
		var tag string
		err := v.open(func(view *query.View) (err error) {
			v.View = view
			if !view.Tip.IsOrigin() {
				w.Header().Set("X-Tip", chain.Model.FormatHash(view.Tip.Hash))
				w.Header().Set("X-Tip-Height", strconv.FormatUint(uint64(view.Tip.Height), 10))
			}
			f := v.frame()
			if tag = s.tag(f, view.Tip, v.now); isForm(r) {
				tag = ""
			} else if tag != "" && served.MatchesETag(r.Header["If-None-Match"], tag) {
				return errUnmodified
			}
			if p, err = build(v); err != nil {
				p = s.errorPage(r, err)
				p.Volatile = true
			}
			if f.Chain.Tip, err = v.tip(); err != nil {
				return err
			}
			p.frame = f
			if p.Location != "" {
				return nil
			}
			if err := cmp.Or(s.render(b, p), v.fault); err != nil {
				return err
			}
			return meter.Of(ctx).Hold(int64(max(b.Len()-meter.Free, 0)))
		})
		switch {
		case errors.Is(err, errUnmodified):
			w.Header().Set("ETag", tag)
			w.WriteHeader(http.StatusNotModified)
			return
		case err != nil:
			p = s.errorPage(r, err)
			v.View = nil
			p.frame = v.frame()
			s.send(w, r, p)
			return
		}
		if p.Location != "" {
			http.Redirect(w, r, p.Location, redirectOf(r))
			return
		}
		if p.Volatile || v.late {
			tag = ""
		}
		s.write(w, r, p, tag, b)
	}
}

// tag returns the ETag of the pages of a chain; empty while they change without a new tip.
func (s *site) tag(f frame, tip model.Point, now time.Time) string {
	if f.Chain.Syncing != nil || f.Chain.Failed != nil {
		return ""
	}
	return fmt.Sprintf(`W/"%s-%s-%s"`, tip.Hash.String(), strconv.FormatInt(now.Unix()/60, 36), s.static.Digest)
}

// frame returns the frame of a page of the chain, without the tip.
func (v *visit) frame() frame {
	f := v.site.frameOf(v.req)
	f.V = v
	for i := range f.Switch {
		f.Switch[i].Current = v.site.Chains[i] == v.chain
	}
	state := v.chain.State()
	f.Chain = &chainFrame{
		Name: v.chain.Name, Title: titleOf(v.chain.Model), Accent: v.chain.Model.Name(), Unit: v.unit, URL: v.URL(), Events: v.api("events"),
		ByRate: v.chain.Model.Traits().BlockVSize > 0, Syncing: syncingOf(state), Failed: failedOf(state, v.now),
	}
	for _, n := range navigation {
		if n.text == "Assets" && v.assetless() || n.text == "Mempool" && v.chain.Mempool == nil || n.text == "Governance" && !v.linksGovernance() {
			continue
		}
		f.Chain.Nav = append(f.Chain.Nav, navLink{link: link{v.URL(n.path...), n.text}})
	}
	return f
}

// frameOf returns the frame of a page without a chain.
func (s *site) frameOf(r *http.Request) frame {
	f := frame{Site: s, Path: r.URL.EscapedPath()}
	for _, c := range s.Chains {
		f.Switch = append(f.Switch, chainLink{URL: s.BasePath + "/" + c.Name, Title: titleOf(c.Model)})
	}
	return f
}

// navigation is the sections of every chain.
var navigation = []struct {
	text string
	path []string
}{
	{"Overview", nil},
	{"Blocks", []string{"blocks"}},
	{"Mempool", []string{"mempool"}},
	{"Assets", []string{"assets"}},
	{"Rich list", []string{"richest"}},
	{"Charts", []string{"charts"}},
	{"Governance", []string{"governance"}},
	{"Reorgs", []string{"forks"}},
	{"Status", []string{"status"}},
}

// titleOf returns the display name of a chain, with the network unless it is mainnet.
func titleOf(c model.Chain) string {
	name := c.Name()
	title := strings.ToUpper(name[:1]) + name[1:]
	if n := c.Network(); n != "mainnet" {
		title += " " + n
	}
	return title
}

// tip returns the newest block of the snapshot; nil before the first.
func (v *visit) tip() (*tip, error) {
	if v.Tip.IsOrigin() {
		return nil, nil
	}
	newest, err := v.Blocks(v.ctx, query.Range{}, query.Page{Limit: 1, Descending: true})
	if err != nil {
		return nil, err
	}
	b := newest.Blocks[0]
	return &tip{b.Height, v.BlockLink(b.Hash), momentOf(b.Time, v.now)}, nil
}

// URL returns the path of a page of the chain; it escapes the parts.
func (v *visit) URL(parts ...string) string { return pathOf(v.site.BasePath+"/"+v.chain.Name, parts) }

func (v *visit) api(parts ...string) string {
	return pathOf(v.site.BasePath+"/v1/"+v.chain.Name, parts)
}

func pathOf(base string, parts []string) string {
	var b strings.Builder
	b.WriteString(base)
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(p))
	}
	return b.String()
}

func (v *visit) BlockLink(hash string) link { return link{v.URL("block", hash), hash} }

// hasBlock reports whether the database has a block at a height; some begin above the first. If it cannot be read, the
// page fails.
func (v *visit) hasBlock(h model.HeightPk) bool {
	_, err := v.PointAt(v.ctx, h)
	if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
		v.fault = cmp.Or(v.fault, err)
	}
	return err == nil
}

// lacksRaw reports whether the database has no raw transactions. If it cannot be read, the page fails.
func (v *visit) lacksRaw() (lacks bool) {
	err := v.From(v.ctx, func(q *query.Query) error {
		lacks = !q.HasRaw()
		return nil
	})
	v.fault = cmp.Or(v.fault, err)
	return lacks
}

// HeightLink links to the block at a height; genesis has no link.
func (v *visit) HeightLink(h uint32) link {
	if h == 0 {
		if !v.hasBlock(0) {
			return link{Text: "genesis"}
		}
	}
	return link{v.URL("block", strconv.FormatUint(uint64(h), 10)), humanize.Count(h)}
}

func (v *visit) TxLink(hash string) link { return link{v.URL("tx", hash), hash} }

func (v *visit) OutputLink(tx string, index int) link {
	ref := tx + ":" + strconv.Itoa(index)
	return link{v.URL("output", ref), ref}
}

func (v *visit) ValueLink(index, value string) link {
	if index == "address" && value == v.hidden && value != "" {
		return link{v.URL("address", v.req.PathValue("value")), value}
	}
	if index == "address" {
		return link{v.URL("address", value), value}
	}
	return link{v.URL("index", index, value), value}
}

const (
	longValue = 200    // characters of a value in a list, in which a longer one is shown in part
	longRoom  = 20_000 // characters of the paths of such values on a page
)

// Listed shortens a link to a long value, for a list. If the page has many of them, the path becomes the given one.
func (v *visit) Listed(l link, instead string) link {
	if len(l.Text) <= longValue {
		return l
	}
	l.Text = format.Abbreviate(l.Text, longValue/2, nameEnds)
	if v.long += len(l.URL); v.long > longRoom {
		l.URL = instead
	}
	return l
}

// listed shortens the values in a row of a list, of whose output the path is given.
func (v *visit) listed(values []ownerLink, output string) []ownerLink {
	for i := range values {
		values[i].link = v.Listed(values[i].link, output)
	}
	return values
}

func (v *visit) AssetLink(id string) link { return link{v.URL("asset", id), id} }

// Amount formats an amount of the chain's coin.
func (v *visit) Amount(n string) amount { return amountOf(v.unit, n) }

// Confirmations returns the number of blocks from a height to the tip.
func (v *visit) Confirmations(height uint32) string {
	return humanize.Count(uint32(v.Tip.Height) - height + 1)
}

func (v *visit) Moment(unix int64) moment { return momentOf(unix, v.now) }

// query returns a query parameter.
func (v *visit) query(name string) string { return v.req.URL.Query().Get(name) }

// cursor returns the requested page of a list, newest first.
func (v *visit) cursor(limit int) query.Page {
	return query.Page{Limit: limit, After: v.query("after"), Descending: true}
}

// number returns a query parameter that is a number of at least 0; def if it is missing.
func (v *visit) number(name string, def int) (int, error) {
	text := v.query(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, model.Errorf(model.Usage, "bad_value", "%s %q: expected a number", name, text)
	}
	return int(n), nil
}

// following is the query of the events of a value of an index: its outputs, the inputs that spend them, and unconfirmed
// transactions.
func (v *visit) following(index, value string) string {
	return "?follow=" + url.QueryEscape(index+"="+value) + "&spends=true" + v.pendingQuery()
}
