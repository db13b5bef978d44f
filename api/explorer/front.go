package explorer

import (
	"context"
	"net/http"

	"birthmark/core/query"
	"birthmark/internal/humanize"
)

// chainCard is a chain on the front page.
type chainCard struct {
	link
	Accent  string
	Tip     *tip // nil: no block yet
	Txs     string
	Syncing *syncing
	Failed  *failed
	synced  bool   // a sync follows the source
	Pending string // unconfirmed transactions; empty: the server has none
	Fault   string // error of the database
}

// Health is the state of the chain in a word or two.
func (c *chainCard) Health() string {
	switch {
	case c.Fault != "":
		return "unavailable"
	case c.Failed != nil:
		return "sync error"
	case c.Syncing != nil:
		return "syncing"
	case c.synced:
		return "synced"
	}
	return "not syncing"
}

// Mood is the class of the badge with the health.
func (c *chainCard) Mood() string {
	switch {
	case c.Fault != "" || c.Failed != nil:
		return "burned"
	case c.synced && c.Syncing == nil:
		return "minted"
	}
	return ""
}

// front is the list of chains. With a single chain it redirects to its overview.
func (s *site) front(w http.ResponseWriter, r *http.Request) {
	if len(s.Chains) == 1 {
		http.Redirect(w, r, pathOf(s.BasePath, []string{s.Chains[0].Name}), http.StatusFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	p := &page{Kind: "front", Title: "Chains", Description: "Indexed chains.", JSON: s.BasePath + "/v1"}
	var cards []*chainCard
	for _, c := range s.Chains {
		v := s.visit(ctx, r, c)
		card := &chainCard{link: link{v.URL(), titleOf(c.Model)}, Accent: c.Model.Name()}
		state := c.State()
		card.synced = state.Sync != nil && !state.Sync.Done
		if c.Mempool != nil {
			card.Pending = humanize.Count(c.Mempool.Standing().Count())
		}
		card.Syncing, card.Failed = syncingOf(state), failedOf(state, v.now)
		err := c.View(ctx, func(view *query.View) (err error) {
			v.View = view
			if card.Tip, err = v.tip(); err != nil {
				return err
			}
			status, err := v.Status(ctx)
			if err == nil {
				card.Txs = humanize.Count(status.Totals.Txs)
			}
			return err
		})
		if late := ctx.Err(); late != nil {
			s.fail(w, r, late)
			return
		}
		if err != nil {
			s.Log.Error("cannot read the database of a chain", "chain", c.Name, "error", err)
			card.Fault = "The database is not available."
		}
		cards = append(cards, card)
	}
	p.Body, p.frame = cards, s.frameOf(r)
	s.send(w, r, p)
}
