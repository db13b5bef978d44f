// Package electrum answers the Electrum protocol, versions 1.4 to 1.6, over TCP, TLS and WebSocket.
//
// methods.go has the table of methods, types.go their results. A method has two steps, as an endpoint of
// [birthmark/api/exchange]: the first one reads the arguments, the second one returns the result from a view. framing.go
// receives and sends messages, messages.go is JSON-RPC.
//
// A [Server] has one chain and any number of listeners. Each connection has a goroutine that reads requests and writes
// their answers, in order, and a goroutine that writes notifications. A lock is taken before the ones after it: that of
// the connection, of the hub, of the changed scripts of a connection.
//
// All answers to one message, and the notifications before them, belong to one moment ([wallet.View]). A client that
// subscribed to headers is notified of the tip of a moment before it gets any other answer or notification of it.
//
// The specification is https://electrum-protocol.readthedocs.io; where servers differ, ElectrumX decides.
package electrum
