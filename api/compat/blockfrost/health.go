package blockfrost

import "time"

// health answers whether the database is near the tip of its source.
func health(q *request) error {
	q.answer = struct {
		IsHealthy bool `json:"is_healthy"`
	}{q.InSync()}
	return nil
}

// clock answers the time of the server in milliseconds.
func clock(q *request) error {
	q.answer = struct {
		ServerTime int64 `json:"server_time"`
	}{time.Now().UnixMilli()}
	return nil
}

// genesis answers the constants of the network.
func genesis(q *request) error {
	if q.network == nil {
		return notImplemented("this server has the constants of public networks only")
	}
	q.answer = q.network
	return nil
}
