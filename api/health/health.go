package health

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/model"
)

// Options say what is near. [Defaults] are what suits most.
type Options struct {
	Behind   uint32        // how many blocks a chain may be behind its source and ready all the same
	Patience time.Duration // how long its sync may fail and the chain be ready all the same
}

// Defaults let a chain be ready while its newest blocks are being written, and while its node starts again.
func Defaults() Options { return Options{Behind: 2, Patience: 2 * time.Minute} }

// within is how long a database may take to answer.
const within = 3 * time.Second

// Answer is the document of /healthz and /readyz.
type Answer struct {
	OK     bool    `json:"ok"`
	Chains []Chain `json:"chains"`
}

// Chain is one chain of an [Answer].
type Chain struct {
	Chain  string  `json:"chain"` // as in paths
	OK     bool    `json:"ok"`
	Why    string  `json:"why,omitempty"`    // why it is not
	Tip    *Tip    `json:"tip"`              // null: no block was synced yet, or the database does not answer
	Target *uint32 `json:"target,omitempty"` // height that the sync of this process goes for; absent where there is none, or it does not know yet
	Left   *uint32 `json:"left,omitempty"`   // blocks until there
}

// Tip is the newest block of a database.
type Tip struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
	Time   int64  `json:"time"` // unix seconds, as the block has it
	Age    int64  `json:"age"`  // seconds since then
}

// keptFor is how long an answer is given again before the databases are read anew: who asks more often costs nothing.
const keptFor = time.Second

// Handler answers GET /healthz and GET /readyz.
func Handler(chains []*served.Chain, o Options) http.Handler {
	h := &handler{Options: o, chains: chains, now: time.Now}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", &report{handler: h, what: func(*Chain, served.State) string { return "" }})
	mux.Handle("GET /readyz", &report{handler: h, what: h.notReady})
	return mux
}

type handler struct {
	Options
	chains []*served.Chain
	now    func() time.Time
}

// report answers one of the questions.
type report struct {
	*handler
	// what says what is wrong with a chain whose database answers; nothing where it is empty.
	what func(*Chain, served.State) string

	mu   sync.Mutex // held while the databases are read: others wait for the answer
	made time.Time
	ok   bool
	text []byte
}

// ServeHTTP implements [http.Handler].
func (p *report) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ok, text := p.answer(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(text) // that the client is gone is nobody's fault
}

// answer says how the chains are, or were a moment ago.
func (p *report) answer(ctx context.Context) (ok bool, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.made.IsZero() && p.now().Sub(p.made) < keptFor {
		return p.ok, p.text
	}
	ctx = context.WithoutCancel(ctx) // the answer is for others too
	a := Answer{OK: true, Chains: []Chain{}}
	for _, c := range p.chains {
		it := Chain{Chain: c.Name}
		state := c.State()
		if s := state.Sync; s != nil && s.Elapsed > 0 {
			target := uint32(max(s.Target, s.Height))
			left := target - uint32(s.Height)
			it.Target, it.Left = &target, &left
		}
		if err := p.look(ctx, c, &it); err != nil {
			it.Why = "the database does not answer: " + err.Error()
		} else {
			it.Why = p.what(&it, state)
		}
		it.OK = it.Why == ""
		a.OK = a.OK && it.OK
		a.Chains = append(a.Chains, it)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(a) // there is nothing in it that cannot be encoded
	p.made, p.ok, p.text = p.now(), a.OK, b.Bytes()
	return p.ok, p.text
}

// look asks the database for its tip.
func (h *handler) look(ctx context.Context, c *served.Chain, it *Chain) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return told(c.View(ctx, func(v *core.View) error {
		if v.Tip.IsOrigin() {
			return nil
		}
		newest, err := v.Blocks(ctx, core.Range{}, core.Page{Limit: 1, Descending: true})
		if err != nil {
			return err
		}
		b := &newest.Blocks[0]
		it.Tip = &Tip{Height: b.Height, Hash: b.Hash, Time: b.Time, Age: h.now().Unix() - b.Time}
		return nil
	}))
}

// told is an error as others may read it: one that nobody foresaw may name folders.
func told(err error) error {
	if err == nil {
		return nil
	}
	if kind, _ := model.KindOf(err); kind == model.Internal {
		return errors.New("the log says why")
	}
	return err
}

// notReady is why clients had better ask another server.
func (h *handler) notReady(it *Chain, state served.State) string {
	switch {
	case it.Tip == nil:
		return "no block was synced yet"
	case state.Failed != "" && h.now().Sub(state.Since) > h.Patience:
		return fmt.Sprintf("the sync stands still for %s: the log says why", h.now().Sub(state.Since).Round(time.Second))
	case state.Sync != nil && it.Target == nil:
		return "the source has not said yet how far it is"
	case it.Left != nil && *it.Left > h.Behind:
		return fmt.Sprintf("%d blocks behind its source", *it.Left)
	}
	return ""
}
