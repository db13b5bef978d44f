// Package exchange answers the HTTP requests of a protocol. What holds for all requests of all protocols is here: finding
// the endpoint, reading arguments and the body, HEAD, errors, headers, and sending the answer. A protocol is a [Protocol]:
// a table of endpoints, its errors, and how it opens a view of the chain.
//
// An endpoint has two steps. The first one reads the arguments from the [Request]; it has no view, so that an invalid
// argument is refused before anything is read. It returns the second one, which gets a view of one tip and returns a
// value. The value becomes JSON by its type: see [birthmark/api/jsonappend]. [Text], [Bytes] and [JSON] are sent as they
// are, and a [List], or [Items] in a value, is sent element by element, in parts: an answer holds 64 KiB at a time, whatever its
// length.
package exchange
