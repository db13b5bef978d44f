package blockfrost

import (
	"time"

	"birthmark/api/compat/blockfrost/exchange"
)

// health answers whether the database is near the tip of its source.
func health(q *request) error {
	q.Answer = struct {
		IsHealthy bool `json:"is_healthy"`
	}{q.InSync()}
	return nil
}

// clock answers the time of the server in milliseconds.
func clock(q *request) error {
	q.Answer = struct {
		ServerTime int64 `json:"server_time"`
	}{time.Now().UnixMilli()}
	return nil
}

// genesis answers the constants of the network.
func genesis(q *request) error {
	if q.Network == nil {
		return exchange.NotImplemented("this server has the constants of public networks only")
	}
	q.Answer = q.Network
	return nil
}
