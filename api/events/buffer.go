package events

import (
	"bytes"
	"encoding/json"

	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/model"
)

// Names of events.
const (
	eventTip      = "tip"
	eventRollback = "rollback"
	eventOutput   = "output"
	eventSpend    = "spend"
)

type rollbackAnswer struct {
	To *query.PointAnswer `json:"to"` // null: the origin
}

// buffer holds encoded events. The last event of a block receives its id afterwards.
type buffer struct {
	text  bytes.Buffer
	lines *json.Encoder
	block int // offset of the end of the last block event, before its empty line; 0: none
}

func newBuffer() *buffer {
	s := &buffer{}
	s.lines = json.NewEncoder(&s.text)
	s.lines.SetEscapeHTML(false) // like all answers
	return s
}

// event writes an event; id may be empty.
func (s *buffer) event(name, id string, data any) error {
	s.text.WriteString("event: ")
	s.text.WriteString(name)
	s.text.WriteString("\ndata: ")
	if err := s.lines.Encode(data); err != nil { // one line with its newline
		return err
	}
	if id != "" {
		s.text.WriteString("id: " + id + "\n")
	}
	if name == eventTip {
		s.block = s.text.Len()
	}
	s.text.WriteByte('\n')
	return nil
}

// change writes an event without id, except a rollback.
func (s *buffer) change(e changes.Change) error {
	switch {
	case e.Output != nil:
		return s.event(eventOutput, "", e.Output)
	case e.Spend != nil:
		return s.event(eventSpend, "", e.Spend)
	}
	return s.event(eventTip, "", e.Summary)
}

// add appends an encoded event.
func (s *buffer) add(i *item) {
	s.text.Write(i.text)
	if i.block != nil && !i.back {
		s.block = s.text.Len() - 1
	}
}

func (s *buffer) rollback(c model.Chain, p position) error {
	var a rollbackAnswer
	if !p.at.IsOrigin() {
		a.To = &query.PointAnswer{Height: uint32(p.at.Height), Hash: c.FormatHash(p.at.Hash)}
	}
	return s.event(eventRollback, p.id, a)
}

// identify sets the id of the last block event.
func (s *buffer) identify(id string) {
	rest := bytes.Clone(s.text.Bytes()[s.block:])
	s.text.Truncate(s.block)
	s.text.WriteString("id: " + id + "\n")
	s.text.Write(rest)
}
