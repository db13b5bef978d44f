package kupo

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"birthmark/api/exchange"
	"birthmark/api/served"
	"birthmark/model"
)

// apiVersion is the version of Kupo whose API this is.
const apiVersion = "v2.12.0"

const (
	connected    = "connected"
	disconnected = "disconnected"
)

// health returns the state of the server, with a status for load balancers.
func (p *protocol) health(r *request) answer {
	state, now := p.state(r)
	switch {
	case now.Failed != "":
		r.SetStatus(http.StatusServiceUnavailable)
	case !p.InSync():
		r.SetStatus(http.StatusAccepted)
	}
	return state
}

// metrics returns the state of the server, always with status 200.
func (p *protocol) metrics(r *request) answer {
	state, _ := p.state(r)
	return state
}

// state returns the state of the server in the format that the client accepts.
func (p *protocol) state(r *request) (answer, served.State) {
	accept, asText := strings.Join(r.Request.Header["Accept"], ","), false
	switch {
	case strings.Contains(accept, "text/plain"):
		asText = true
	case accept == "", strings.Contains(accept, "application/json"):
	case strings.Contains(accept, "*/*"):
		asText = true
	default:
		r.Refuse(errMedia)
	}
	now := p.Chain.State()
	return func(v *view) (any, error) {
		s := &healthValue{Connection: connected, Version: apiVersion + " (birthmark " + p.Version + ")"}
		s.Configuration.Indexes = "installed"
		if now.Failed != "" {
			s.Connection = disconnected
		}
		if err := v.setState(s, now); err != nil {
			return nil, err
		}
		if asText {
			r.SetType("text/plain;charset=utf-8")
			return exchange.Text(s.text()), nil
		}
		return s, nil
	}, now
}

// setState sets the members that depend on the tip.
func (v *view) setState(s *healthValue, now served.State) error {
	if v.tip == nil {
		return nil
	}
	s.Checkpoint = &v.tip.Slot
	if now.Sync == nil || now.Sync.Target <= v.Q.Tip.Height {
		s.NodeTip = &v.tip.Slot // the slot of a node's tip ahead of it is unknown
	}
	first, err := v.Q.FirstBlock()
	if err != nil {
		return err
	}
	rows, err := v.Q.BlockRows([]model.HeightPk{first, v.Q.Tip.Height})
	if err != nil {
		return err
	}
	at := time.Now().Unix()
	lag, part := max(0, at-rows[1].Time), progress(progressOf(rows[0].Time, rows[1].Time, at))
	s.Lag, s.Progress = &lag, &part
	return nil
}

// progressOf returns the part of the chain's time that has been indexed, from 0 to 1. Two minutes count as nothing.
func progressOf(first, last, now int64) float64 {
	const tolerance = 120
	if now-last <= tolerance || now <= first {
		return 1
	}
	return min(1, float64(last-first)/float64(now-first))
}

// text returns metrics in the text format of Prometheus, as Kupo writes it: two spaces before a value, and gauges with a
// point. Programs split the lines at the two spaces.
func (s *healthValue) text() string {
	var metrics []string
	add := func(kind, name, value string) {
		metrics = append(metrics, "# TYPE kupo_"+name+" "+kind+"\nkupo_"+name+"  "+value+"\n")
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
	connection := 0.0
	if s.Connection == connected {
		connection = 1
	}
	gauge("connection_status", connection)
	if s.Checkpoint != nil {
		counter("most_recent_checkpoint", *s.Checkpoint)
	}
	if s.NodeTip != nil {
		counter("most_recent_node_tip", *s.NodeTip)
	}
	if s.Progress != nil {
		gauge("network_synchronization", math.Round(float64(*s.Progress)*1e5)/1e5)
	}
	if s.Lag != nil {
		gauge("seconds_since_last_block", float64(*s.Lag))
	}
	return strings.Join(metrics, "\n")
}
