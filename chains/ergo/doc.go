// Package ergo reads Ergo: a node's REST, and files of full blocks as it gives them. [New] makes the chain of one
// network.
package ergo
