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
	"birthmark/core/query"
	"birthmark/model"
)

// Options define when a chain is ready; see [Defaults].
type Options struct {
	MaxLag     uint32        // blocks between a ready chain and its source
	MaxFailure time.Duration // of the sync of a ready chain
}

// Defaults keep a chain ready while its newest blocks are being written, and while its node restarts.
func Defaults() Options { return Options{MaxLag: 2, MaxFailure: 2 * time.Minute} }

// readTimeout is the time in which a database must return its tip.
const readTimeout = 3 * time.Second

// Answer is the document of /healthz and /readyz.
type Answer struct {
	OK     bool    `json:"ok"`
	Chains []Chain `json:"chains"`
}

// Chain is one chain of an [Answer].
type Chain struct {
	Chain  string  `json:"chain"` // as in paths
	OK     bool    `json:"ok"`
	Why    string  `json:"why,omitempty"`    // reason if not OK
	Tip    *Tip    `json:"tip"`              // null: no block yet, or the database cannot be read
	Target *uint32 `json:"target,omitempty"` // height of the source's tip; absent if unknown, or without a sync in this process
	Left   *uint32 `json:"left,omitempty"`   // blocks until there

	Mempool *Mempool `json:"mempool,omitempty"` // absent without a mempool
}

// Mempool are the unconfirmed transactions of a chain.
type Mempool struct {
	State  string `json:"state"` // none, filling, old, partial or live
	Count  int    `json:"count"`
	Wanted int    `json:"wanted"` // transactions of the node
	Memory int64  `json:"memory"` // bytes, estimated
}

// Tip is the newest block of a database.
type Tip struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
	Time   int64  `json:"time"` // Unix seconds, from the block header
	Age    int64  `json:"age"`  // seconds since then
}

// cacheTime is the time for which an answer is reused, so that frequent checks are cheap.
const cacheTime = time.Second

// Handler serves GET /healthz and GET /readyz.
func Handler(chains []*served.Chain, o Options) http.Handler {
	h := &handler{Options: o, chains: chains, now: time.Now}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", &report{handler: h, fault: func(*Chain, served.State) string { return "" }})
	mux.Handle("GET /readyz", &report{handler: h, fault: h.notReady})
	return mux
}

type handler struct {
	Options
	chains []*served.Chain
	now    func() time.Time
}

// report serves one of the checks.
type report struct {
	*handler
	fault func(*Chain, served.State) string // of a chain whose database can be read; empty: none

	mu   sync.Mutex // held while the databases are read: other requests wait for the answer
	made time.Time
	ok   bool
	text []byte
}

func (p *report) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ok, text := p.answer(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(text) // fails only if the client is gone
}

// answer returns the state of the chains, or that of a moment ago.
func (p *report) answer(ctx context.Context) (ok bool, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.made.IsZero() && p.now().Sub(p.made) < cacheTime {
		return p.ok, p.text
	}
	ctx = context.WithoutCancel(ctx) // other requests share the answer
	a := Answer{OK: true, Chains: []Chain{}}
	for _, c := range p.chains {
		it := Chain{Chain: c.Name}
		if c.Mempool != nil {
			i := c.Mempool.Standing().Info()
			it.Mempool = &Mempool{i.State.String(), i.Count, i.Wanted, i.Memory}
		}
		state := c.State()
		if s := state.Sync; s != nil && s.Elapsed > 0 {
			target := uint32(max(s.Target, s.Height))
			left := target - uint32(s.Height)
			it.Target, it.Left = &target, &left
		}
		if err := p.readTip(ctx, c, &it); err != nil {
			it.Why = "the database cannot be read: " + err.Error()
		} else {
			it.Why = p.fault(&it, state)
		}
		it.OK = it.Why == ""
		a.OK = a.OK && it.OK
		a.Chains = append(a.Chains, it)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(a) // cannot fail
	p.made, p.ok, p.text = p.now(), a.OK, b.Bytes()
	return p.ok, p.text
}

// readTip reads the tip of a chain.
func (h *handler) readTip(ctx context.Context, c *served.Chain, it *Chain) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return public(c.View(ctx, func(v *query.View) error {
		if v.Tip.IsOrigin() {
			return nil
		}
		newest, err := v.Blocks(ctx, query.Range{}, query.Page{Limit: 1, Descending: true})
		if err != nil {
			return err
		}
		b := &newest.Blocks[0]
		it.Tip = &Tip{Height: b.Height, Hash: b.Hash, Time: b.Time, Age: h.now().Unix() - b.Time}
		return nil
	}))
}

// public returns an error for clients, without the text of an internal error, which may name files.
func public(err error) error {
	if err == nil {
		return nil
	}
	if kind, _ := model.KindOf(err); kind == model.Internal {
		return errors.New("see the log")
	}
	return err
}

// notReady returns why a load balancer should use another server; empty: the chain is ready.
func (h *handler) notReady(it *Chain, state served.State) string {
	switch {
	case it.Tip == nil:
		return "no block yet"
	case state.Failed != "" && h.now().Sub(state.Since) > h.MaxFailure:
		return fmt.Sprintf("the sync has been failing for %s: see the log", h.now().Sub(state.Since).Round(time.Second))
	case state.Sync != nil && it.Target == nil:
		return "the tip of the source is not known yet"
	case it.Left != nil && *it.Left > h.MaxLag:
		return fmt.Sprintf("%d blocks behind its source", *it.Left)
	}
	return ""
}
