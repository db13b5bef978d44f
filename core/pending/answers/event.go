package answers

import (
	"bytes"
	"encoding/json"

	"birthmark/core/query"
)

// Event is an event of a [Watch]: one of its fields.
type Event struct {
	Pending *query.PendingEventAnswer // a transaction arrived, or arrived again
	Gone    *query.GoneEventAnswer    // a transaction left, and no block has it
	Mempool *query.MempoolEventAnswer // all events up to this moment were sent; with Reset, the consumer has no transaction
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
