package kupo

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"birthmark/api/compat/utxo"
	"birthmark/model"
)

// apiVersion is the version of Kupo whose API this is.
const apiVersion = "v2.12.0"

// state is the state of the server.
type state struct {
	connected bool
	inSync    bool
	tip       *utxo.Point // nil: no block yet
	nodeTip   *uint64
	lag       *int64 // seconds since the last block
	progress  *float64
}

// health answers the state of the server, with a status for load balancers.
func (q *request) health(args []string) error {
	s, err := q.state(args)
	if err != nil {
		return err
	}
	status := http.StatusOK
	switch {
	case !s.connected:
		status = http.StatusServiceUnavailable
	case !s.inSync:
		status = http.StatusAccepted
	}
	return q.addState(s, status)
}

// metrics answers as health, always with status 200.
func (q *request) metrics(args []string) error {
	s, err := q.state(args)
	if err != nil {
		return err
	}
	return q.addState(s, http.StatusOK)
}

// state determines the state.
func (q *request) state(args []string) (s *state, err error) {
	if len(args) > 0 {
		return nil, errNoEndpoint
	}
	now := q.Chain.State()
	s = &state{connected: now.Failed == "", inSync: q.InSync()}
	return s, q.view(func() error {
		if s.tip, err = q.setTip(); err != nil || s.tip == nil {
			return err
		}
		if now.Sync == nil || now.Sync.Target <= q.Q.Tip.Height {
			s.nodeTip = &s.tip.Slot // the slot of a node's tip ahead of it is unknown
		}
		first, err := q.Q.FirstBlock()
		if err != nil {
			return err
		}
		rows, err := q.Q.BlockRows([]model.HeightPk{first, q.Q.Tip.Height})
		if err != nil {
			return err
		}
		at := time.Now().Unix()
		lag := max(0, at-rows[1].Time)
		s.lag = &lag
		progress := progressOf(rows[0].Time, rows[1].Time, at)
		s.progress = &progress
		return nil
	})
}

// progressOf returns the part of the chain's time that has been indexed, from 0 to 1. Two minutes count as nothing.
func progressOf(first, last, now int64) float64 {
	const tolerance = 120
	if now-last <= tolerance || now <= first {
		return 1
	}
	return min(1, float64(last-first)/float64(now-first))
}

// addState appends the state in the format that the client accepts.
func (q *request) addState(s *state, status int) error {
	accept := strings.Join(q.r.Header["Accept"], ",")
	h := q.w.Header()
	switch {
	case strings.Contains(accept, "text/plain"):
		h["Content-Type"] = []string{"text/plain;charset=utf-8"}
		q.addStateText(s)
	case accept == "", strings.Contains(accept, "application/json"):
		q.addStateJSON(s)
	case strings.Contains(accept, "*/*"):
		q.addStateText(s)
	default:
		return errMedia
	}
	if status != http.StatusOK {
		h["Content-Length"] = []string{strconv.Itoa(len(q.out))}
		q.w.WriteHeader(status)
	}
	return nil
}

func (q *request) addStateJSON(s *state) {
	connection := "connected"
	if !s.connected {
		connection = "disconnected"
	}
	q.add(`{"connection_status":"`, connection, `","most_recent_checkpoint":`)
	if s.tip == nil {
		q.add("null")
	} else {
		q.addUint(s.tip.Slot)
	}
	for _, field := range []struct {
		name  string
		known bool
		text  func() string
	}{
		{"most_recent_node_tip", s.nodeTip != nil, func() string { return strconv.FormatUint(*s.nodeTip, 10) }},
		{"seconds_since_last_block", s.lag != nil, func() string { return strconv.FormatInt(*s.lag, 10) }},
		{"network_synchronization", s.progress != nil, func() string { return fmt.Sprintf("%.5f", *s.progress) }},
	} {
		q.add(`,"`, field.name, `":`)
		if field.known {
			q.add(field.text())
		} else {
			q.add("null")
		}
	}
	q.add(`,"configuration":{"indexes":"installed"},"version":"`, apiVersion, " (birthmark ", q.Version, `)"}`)
}

// addStateText appends metrics in the text format of Prometheus, as Kupo writes it: two spaces before a value, and gauges
// with a point. Programs split the lines at the two spaces.
func (q *request) addStateText(s *state) {
	first := true
	add := func(kind, name, value string) {
		if !first {
			q.add("\n")
		}
		first = false
		q.add("# TYPE kupo_", name, " ", kind, "\nkupo_", name, "  ", value, "\n")
	}
	gauge := func(name string, value float64) {
		text := strconv.FormatFloat(value, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		add("gauge", name, text)
	}
	counter := func(name string, n uint64) { add("counter", name, strconv.FormatUint(n, 10)) }
	gauge("configuration_indexes", 1)
	connected := 0.0
	if s.connected {
		connected = 1
	}
	gauge("connection_status", connected)
	if s.tip != nil {
		counter("most_recent_checkpoint", s.tip.Slot)
	}
	if s.nodeTip != nil {
		counter("most_recent_node_tip", *s.nodeTip)
	}
	if s.progress != nil {
		gauge("network_synchronization", math.Round(*s.progress*1e5)/1e5)
	}
	if s.lag != nil {
		gauge("seconds_since_last_block", float64(*s.lag))
	}
}
