// Package guard stands between the network and the handlers: what a client may ask, how much of it, and for how long.
//
// [New] wraps a handler with limits on each request: who asks ([Keys], addresses), how often ([Rate]), for which host,
// how large a request may be, how long its answer may take. The guard does not read what is asked. A handler that finds
// a request to be expensive, or a stream, says so with [Take] or [Stream], which bound what is done at once. The guard
// sets the headers that browsers want, answers what other origins' pages ask first (CORS), turns a panic into an answer
// and logs. Whatever it refuses is a [birthmark/api/problem.Problem] that says what to do.
//
// [Serve] listens, with TLS where there are files for it, and keeps the connections within bounds: when there are as
// many as there may be, the one that has waited longest for its client makes room for a new one, so that clients who
// open connections and say nothing, or little, keep nobody out; and a few more are there for questions about health.
// When its context ends it finishes what is being answered.
//
// Keys and certificates are read again when their files change. Nothing here keeps a goroutine that a request or a
// connection did not bring.
//
// What limits cannot do: a client with many addresses has many rates. Behind a proxy all clients are one unless the proxy is
// named in Options.Proxies, whose X-Forwarded-For is believed then.
package ratelimit
