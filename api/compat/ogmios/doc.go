// Package ogmios serves the methods of Ogmios 6.14 that a wallet needs beside an index: protocol parameters, reward
// accounts, the tip, and the submission of transactions. It passes them on to the node, and keeps no state.
//
// Requests are JSON-RPC 2.0, over HTTP (POST) or WebSocket. An error has the status 400 over HTTP, as with Ogmios. Its
// code is that of Ogmios for the same failure, or one of JSON-RPC.
//
// Sources: docs/static/api/v6.14 and docs/content of github.com/CardanoSolutions/ogmios.
package ogmios
