// Package node is the source of a Cardano node: a relay over TCP, or a node on this machine over its Unix socket.
//
// intersect.go finds the newest block that the node shares with a database. decode.go decodes the blocks that
// package ouroboros receives, in parallel, and checks that they are the announced ones. follow.go turns them into events:
// blocks and rollbacks, also to boundary blocks. It reconnects after failures, resumes exactly after the last event, and
// waits for nodes that are behind. [Local] adds the mempool and the submission of a node on this machine.
package node
