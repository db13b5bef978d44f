// Package nodehttp is how nodes of any chain are asked over HTTP, whatever they are asked.
//
// A [Client] is one node behind one URL, and a [Kind] what the nodes of a chain have in common: how their URL is
// written and what errors call them. [Client.Do] sends one [Request] and hands the answer on, whatever its status. What
// an answer means, how large it may be and how a node is shown who asks is of the packages that use this one.
//
// No more than [Places] requests are under way at once. A node that says nothing for too long is left, before an answer
// and in the middle of one. Redirections are not followed, so that nothing secret goes to where they lead.
//
// Errors name the node by host and port and say who has to act. What waiting can heal is marked by
// [birthmark/chains/blocksource.Temporary]: code unreachable, of a node that is not there, breaks off or is silent. Those that
// stay are unreachable where the host has no address and never was there, bad_certificate, not_a_node, and bad_source for
// the URL itself. None quotes the URL, and [Client.Excerpt] removes what is secret from what a node says.
//
// Caveat: a proxy of the environment (HTTPS_PROXY and the like) is used as every Go program does, so not for this
// machine itself.
package nodehttp
