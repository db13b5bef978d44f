// Package blockbook serves a Bitcoin chain by the API of Blockbook version 2, as Trezor Suite and other wallets use it:
// REST below PREFIX/api/v2, in the form of version 1 below PREFIX/api and PREFIX/api/v1, and WebSocket at
// PREFIX/websocket.
//
// Amounts are decimal strings in satoshi, except fee rates of REST, which are BTC per 1,000 virtual bytes. An account
// is an address, an extended public key, or a descriptor: see package account. Fiat rates and tokens of other chains
// are not served.
//
// Differences from Blockbook: outputs that pay to a bare public key are not part of the address of that key; pages of
// transactions contain all confirmed entries in addition to unconfirmed ones; an unknown method or height is answered
// with an error; a request that exceeds a limit is answered with an error that names the limit, and is not cut.
package blockbook
