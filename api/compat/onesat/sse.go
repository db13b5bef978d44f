package onesat

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"birthmark/api/compat/wallet"
	"birthmark/api/ratelimit"
	"birthmark/model"
)

// endless is an answer that has no end: server-sent events, written by run.
type endless struct {
	run func(ctx context.Context, send func(text []byte) error) error
}

// ServeHTTP implements [http.Handler].
func (e endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := ratelimit.Stream(w); err != nil {
		failure(nil, err).Write(w)
		return
	}
	h := w.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.Flush() // writers of tests cannot
	_ = e.run(r.Context(), func(text []byte) error {
		if _, err := w.Write(text); err != nil {
			return err
		}
		_ = control.Flush()
		return nil
	})
}

// tips streams the headers of new tips.
func (p *protocol) tips(*request) (any, error) {
	return endless{func(ctx context.Context, send func([]byte) error) error {
		for e := range p.Changes(ctx) {
			if !e.NewTip || e.Tip.IsOrigin() {
				continue
			}
			var value *headerValue
			err := p.View(ctx, func(v *wallet.View) (err error) {
				value, err = (&view{v, p}).headerAt(uint32(v.Tip.Height))
				return err
			})
			if err != nil {
				return err
			}
			text, err := json.Marshal(value)
			if err != nil {
				return err
			}
			if err := send(fmt.Appendf(nil, "data: %s\n\n", text)); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// maxTopics is the number of topics of a stream.
const maxTopics = 100

// events streams the outputs with one of several events: when an unconfirmed transaction with them arrives, and when a
// block has it. After a reorganization, the outputs of all blocks above the common one follow.
func (p *protocol) events(r *request) (any, error) {
	topics := strings.Split(arg(r, "topics"), ",")
	if len(topics) > maxTopics {
		return nil, badRequest("Too many topics (max %d)", maxTopics)
	}
	return endless{func(ctx context.Context, send func([]byte) error) error {
		var sent []model.Point                            // tips of sent blocks, the newest last
		known := make([]map[model.Hash]bool, len(topics)) // by topic: unconfirmed transactions
		for range p.Changes(ctx) {
			err := p.View(ctx, func(wv *wallet.View) error {
				v := &view{wv, p}
				for len(sent) > 0 {
					has, err := v.Has(sent[len(sent)-1])
					if err != nil {
						return err
					}
					if has {
						break
					}
					sent = sent[:len(sent)-1]
				}
				if err := v.sendArrived(topics, known, send); err != nil {
					return err
				}
				tip := v.Tip
				if len(sent) > 0 && sent[len(sent)-1] == tip {
					return nil
				}
				if len(sent) > 0 {
					if err := v.sendTopics(topics, float64(sent[len(sent)-1].Height+1), send); err != nil {
						return err
					}
				}
				if sent = append(sent, tip); len(sent) > maxTopics {
					sent = sent[1:]
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// sendArrived sends the unconfirmed outputs with topics, except those of known transactions, and updates known.
func (v *view) sendArrived(topics []string, known []map[model.Hash]bool, send func([]byte) error) error {
	for i, topic := range topics {
		outputs, now, err := v.arrived(topic, known[i])
		if err != nil {
			return err
		}
		known[i] = now
		var text []byte
		for _, o := range outputs {
			text = fmt.Appendf(text, "event: %s\ndata: %s\n\n", topic, dottedText(o))
		}
		if len(text) == 0 {
			continue
		}
		if err := send(text); err != nil {
			return err
		}
	}
	return nil
}

// sendTopics sends the outputs with topics from a score on.
func (v *view) sendTopics(topics []string, from float64, send func([]byte) error) error {
	for _, topic := range topics {
		for pks, err := range v.search([]string{topic}, search{from: &from}) {
			if err != nil {
				return err
			}
			outputs, err := v.confirmed(pks, members{})
			if err != nil {
				return err
			}
			var text []byte
			for _, o := range outputs {
				text = fmt.Appendf(text, "event: %s\ndata: %s\n\n", topic, dottedText(o))
			}
			if err := send(text); err != nil {
				return err
			}
		}
	}
	return nil
}
