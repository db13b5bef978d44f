// Package api answers over HTTP what the command line answers, for one or more chains, and nothing else: no request
// changes a database.
//
// An [operation] is one question: its path, its parameters, the type of its answer and what asks the database. All
// operations stand in one table (operations.go). From it come the routes, what parameters are understood, the OpenAPI
// document, and the pages of documentation: there is no other place that says what there is.
//
//	request ──► router ──► parameters ──► one core.View: tip, ETag, question ──► JSON, newline-delimited JSON, or a problem
//
// An answer is made whole from one snapshot of the database before any of it is sent, so that its headers name the tip it
// was made at and a slow client holds nothing open. Lists that are streamed are the exception: they hold their snapshot,
// for a bounded time.
//
// The huma library writes the OpenAPI document from the types of the answers. Requests do not pass through it: an answer
// has the bytes the command line prints, and a request that names what there is not is refused, both of which it would have
// to be kept from.
//
// Below it: [birthmark/api/served] is what every part knows of a chain, [birthmark/api/problem] how errors are written.
package api
