// Package nodehttp sends HTTP requests to the nodes of any chain.
//
// A [Client] is one node with one URL, and a [Kind] the common properties of the nodes of a chain: the form of their
// URL and how errors name them. [Client.Do] sends one [Request] and passes the response on, whatever its status. The
// callers define the meaning of responses, their maximum size and authentication.
//
// At most [Places] requests are active at once. A request ends if a node is silent for too long, before or within a
// response. Redirections are not followed, so that no secret goes elsewhere.
//
// Errors name the node by host and port. Temporary ones are marked by [birthmark/chains/blocksource.Temporary]: code
// unreachable, if a node is down, disconnects or is silent. Permanent are unreachable if the host has no address and
// never answered, bad_certificate, not_a_node, and bad_source for the URL itself. None contains the URL, and
// [Client.Excerpt] removes secrets from a node's text.
//
// Caveat: a proxy in the environment (HTTPS_PROXY and others) is used as in every Go program, so not for loopback.
package nodehttp
