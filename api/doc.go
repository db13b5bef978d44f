// Package api serves the queries of the command line over HTTP, read-only, for one or more chains.
//
// An [operation] is one question: its path, its parameters, the type of its answer, and the function that reads it. The
// operations of each resource are in route_*.go, and routes.go lists them. Routes, parameters, the OpenAPI document and
// the documentation pages are made from that list.
//
//	request ──► ServeMux ──► parameters ──► one core.View: tip, ETag, answer ──► JSON, newline-delimited JSON, or a problem
//
// An answer is read completely from one snapshot before it is sent: its headers name the tip of that snapshot, and a slow
// client holds no snapshot open. Streamed lists are the exception: they hold their snapshot for a bounded time.
//
// The huma library makes the OpenAPI document from the types of the answers. Requests do not pass through it: answers
// have the bytes that the command line prints, and unknown parameters are rejected.
//
// Package [birthmark/api/served] describes chains to all parts of the server, [birthmark/api/problem] writes errors.
package api
