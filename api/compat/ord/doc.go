// Package ord serves the JSON API of ord's server for runes, so that programs that use it work unchanged. Answers are
// the
// ones that ord gives to requests with "Accept: application/json" (src/api.rs and src/subcommand/server.rs of
// github.com/ordinals/ord), also without that header.
//
// There are no inscriptions and no satoshi ranges: the answers are those of a server that indexes runes, addresses and
// transactions only. It has no HTML pages.
package ord
