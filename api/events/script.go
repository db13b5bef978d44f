package events

import (
	"bytes"
	"encoding/json"

	"birthmark/core/query"
	"birthmark/model"
)

// Names of events.
const (
	eventTip      = "tip"
	eventRollback = "rollback"
	eventOutput   = "output"
	eventSpend    = "spend"
)

// rollbackAnswer is the data of a rollback.
type rollbackAnswer struct {
	To *query.PointAnswer `json:"to"` // null: the origin
}

// script is events as they are written. The last one of a block can be given its id afterwards.
type script struct {
	text  bytes.Buffer
	lines *json.Encoder
	block int // where the last event of a block ends but for its empty line, 0: there is none
}

func newScript() *script {
	s := &script{}
	s.lines = json.NewEncoder(&s.text)
	s.lines.SetEscapeHTML(false) // as every other answer is written
	return s
}

// event writes one; id may be empty.
func (s *script) event(name, id string, data any) error {
	s.text.WriteString("event: ")
	s.text.WriteString(name)
	s.text.WriteString("\ndata: ")
	if err := s.lines.Encode(data); err != nil { // on one line, which it ends
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

// add adds an event that is written.
func (s *script) add(i *item) {
	s.text.Write(i.text)
	if i.block != nil && !i.back {
		s.block = s.text.Len() - 1
	}
}

func (s *script) rollback(c model.Chain, p place) error {
	var a rollbackAnswer
	if !p.at.IsOrigin() {
		a.To = &query.PointAnswer{Height: uint32(p.at.Height), Hash: c.FormatHash(p.at.Hash)}
	}
	return s.event(eventRollback, p.id, a)
}

// identify gives the last event of a block its id.
func (s *script) identify(id string) {
	rest := bytes.Clone(s.text.Bytes()[s.block:])
	s.text.Truncate(s.block)
	s.text.WriteString("id: " + id + "\n")
	s.text.Write(rest)
}
