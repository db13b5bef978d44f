// Package api answers over HTTP what the command line answers, for one or more chains, and nothing else: no request
// changes a database.
//
// Below it: [birthmark/api/served] is what every part knows of a chain.
package api
