// Package netserver runs an HTTP server: listening on addresses and Unix sockets, TLS whose certificate is reloaded, limits
// on connections, orderly shutdown, and a separate server for profiles.
package netserver
