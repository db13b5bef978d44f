package answers

import (
	"bytes"
	"encoding/json"

	"birthmark/core/query"
)

// Event is an event of a [Watch]: one of its fields.
type Event struct {
	Pending *Pending // a transaction arrived, or arrived again
	Gone    *Gone    // a transaction left, and no block has it
	Mempool *Mempool // all events up to this moment were sent; with Reset, the consumer has no transaction
}

// Name returns the type of the event as written in answers, and its data.
func (e Event) Name() (name string, data any) {
	switch {
	case e.Pending != nil:
		return "pending", e.Pending
	case e.Gone != nil:
		return "gone", e.Gone
	}
	return "mempool", e.Mempool
}

// MarshalJSON writes one object with the event type in the field "type".
func (e Event) MarshalJSON() ([]byte, error) {
	name, data := e.Name()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // like all other answers
	if err := encoder.Encode(data); err != nil {
		return nil, err
	}
	return append([]byte(`{"type":"`+name+`",`), b.Bytes()[1:]...), nil
}

// Pending is an unconfirmed transaction in the stream of events: the outputs that match the terms.
type Pending struct {
	Tx        string                      `json:"tx"`
	FirstSeen int64                       `json:"first_seen"` // Unix seconds
	Outputs   []query.PendingOutputAnswer `json:"outputs"`    // created; without spent_by
	Spends    []query.PendingSpendAnswer  `json:"spends,omitempty"`
}

// Gone is a transaction that left the mempool without confirmation.
type Gone struct {
	Tx     string             `json:"tx"`
	Reason string             `json:"reason"`          // replaced, conflict, dropped or evicted
	By     string             `json:"by,omitempty"`    // of replaced: the transaction that arrived
	Block  *query.PointAnswer `json:"block,omitempty"` // of conflict
}

// Mempool ends a series of events of unconfirmed transactions, or begins one with an empty set.
type Mempool struct {
	State string             `json:"state"` // live, filling, old, partial or none
	Tip   *query.PointAnswer `json:"tip"`   // null: the origin
	Count int                `json:"count"` // transactions that were sent and are still unconfirmed
	Reset bool               `json:"reset,omitempty"`
}
