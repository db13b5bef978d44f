// Package electrum answers the Electrum protocol, versions 1.4 to 1.6, over TCP, TLS and WebSocket.
//
// A [Server] has one chain and any number of listeners. Each connection has a goroutine that reads requests and writes
// their answers, in order, and a goroutine that writes notifications. Answers are written directly into the buffer of
// the connection; long ones are sent in parts while they are read from the database.
//
// All answers to one message, and the notifications before them, belong to one moment ([wallet.View]). A client that
// subscribed to headers is notified of the tip of a moment before it gets any other answer or notification of it.
//
// The specification is https://electrum-protocol.readthedocs.io; where servers differ, ElectrumX decides.
package electrum
