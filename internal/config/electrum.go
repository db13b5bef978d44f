package config

import (
	"fmt"
	"strconv"
	"time"
)

// Electrum are the limits of the Electrum protocol. 0 means no limit, except for MaxRequest and MaxBatch. The limits of
// a client do not apply to this machine and to trusted proxies.
type Electrum struct {
	MaxRequest    Size          // of a message
	MaxBatch      int           // requests of a message
	ClientConns   int           // open connections of a client
	ClientSubs    int           // subscriptions of a client
	IdleTimeout   time.Duration // of a connection without requests
	Timeout       time.Duration // of an answer
	SoftCost      float64       // cost of a client above which its requests are delayed
	HardCost      float64       // cost above which its connections end
	CostPerSecond float64       // by which the cost of a client falls
}

func defaultElectrum() Electrum {
	return Electrum{
		MaxRequest: MiB, MaxBatch: 1000, ClientConns: 12, ClientSubs: 75_000, IdleTimeout: 10 * time.Minute,
		Timeout: 30 * time.Second, SoftCost: 1000, HardCost: 10_000, CostPerSecond: 50,
	}
}

// limits returns the setter of a limit.
func limit[T any](of func(*Electrum) *T, set func(*T, string) error) func(*Settings, string, string) error {
	return func(s *Settings, v, _ string) error { return set(of(&s.Server.Electrum), v) }
}

var electrumKeys = []key[Settings]{
	{name: "electrum.max_request", set: limit(func(e *Electrum) *Size { return &e.MaxRequest }, setRequestSize)},
	{name: "electrum.max_batch", set: limit(func(e *Electrum) *int { return &e.MaxBatch }, between(1, 1<<20))},
	{name: "electrum.client_connections", set: limit(func(e *Electrum) *int { return &e.ClientConns }, between(0, 1<<20))},
	{name: "electrum.client_subscriptions", set: limit(func(e *Electrum) *int { return &e.ClientSubs }, between(0, 1<<30))},
	{name: "electrum.idle_timeout", set: limit(func(e *Electrum) *time.Duration { return &e.IdleTimeout }, setDuration)},
	{name: "electrum.request_timeout", set: limit(func(e *Electrum) *time.Duration { return &e.Timeout }, setDuration)},
	{name: "electrum.soft_cost", set: limit(func(e *Electrum) *float64 { return &e.SoftCost }, setCost)},
	{name: "electrum.hard_cost", set: limit(func(e *Electrum) *float64 { return &e.HardCost }, setCost)},
	{name: "electrum.cost_per_second", set: limit(func(e *Electrum) *float64 { return &e.CostPerSecond }, setCost)},
}

func between(least, most int) func(*int, string) error {
	return func(to *int, v string) error { return setCount(to, v, least, most) }
}

// Bounds of max_request: a batch of 500 requests has some 75 kB, and a transaction in hex up to 8 MB.
const (
	leastRequest = 64 * KiB
	mostRequest  = 64 * MiB
)

func setRequestSize(to *Size, value string) error {
	n, err := ParseSize(value)
	if err == nil && (n < leastRequest || n > mostRequest) {
		err = fmt.Errorf("%q is not a size from %v to %v", value, leastRequest, mostRequest)
	}
	*to = n
	return err
}

func setDuration(to *time.Duration, value string) error {
	if value == "0" {
		*to = 0
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < leastTimeout {
		return fmt.Errorf("%q is not a duration of at least %[2]v, such as 30s; 0: no limit", value, leastTimeout)
	}
	*to = d
	return nil
}

func setCost(to *float64, value string) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= 0 && n <= 1e12) {
		return fmt.Errorf("%q is not a number such as 1000; 0: no limit", value)
	}
	*to = n
	return nil
}

// ElectrumView is the part of a [View] with the limits of the Electrum protocol.
type ElectrumView struct {
	MaxRequest    Size    `yaml:"max_request" json:"max_request"`
	MaxBatch      int     `yaml:"max_batch" json:"max_batch"`
	ClientConns   int     `yaml:"client_connections" json:"client_connections"`
	ClientSubs    int     `yaml:"client_subscriptions" json:"client_subscriptions"`
	IdleTimeout   string  `yaml:"idle_timeout" json:"idle_timeout"`
	Timeout       string  `yaml:"request_timeout" json:"request_timeout"`
	SoftCost      float64 `yaml:"soft_cost" json:"soft_cost"`
	HardCost      float64 `yaml:"hard_cost" json:"hard_cost"`
	CostPerSecond float64 `yaml:"cost_per_second" json:"cost_per_second"`
}

// View returns the limits for [View]; nil if they are the defaults.
func (e *Electrum) View() *ElectrumView {
	if *e == defaultElectrum() {
		return nil
	}
	duration := func(d time.Duration) string {
		if d == 0 {
			return "0"
		}
		return d.String()
	}
	return &ElectrumView{
		e.MaxRequest, e.MaxBatch, e.ClientConns, e.ClientSubs, duration(e.IdleTimeout), duration(e.Timeout), e.SoftCost,
		e.HardCost, e.CostPerSecond,
	}
}
