// Package ratelimit limits the requests of a server and protects its handlers.
//
// [New] wraps a handler: it identifies the client (API key, else IP address), and checks the client's rate, the Host
// header, and the size of the request. It sets the security headers, answers CORS preflights, limits the duration of
// the answer, turns a panic into an answer, and logs. It does not parse the request: a handler that finds a request to
// be expensive, or a stream, calls [Take] or [Stream], which limit concurrent work. A rejected request gets a
// [birthmark/api/problem.Problem].
//
// A client with many addresses has many rates. Behind a proxy all clients are one, unless the proxy is in
// Options.Proxies.
package ratelimit
