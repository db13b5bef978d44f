// Package ergographql serves the part of the GraphQL API ergo-graphql that wallets request: boxes, headers, balances,
// tokens, unconfirmed transactions, and submitting. Fleet's ErgoGraphQLProvider and Nautilus work unchanged.
//
// schema.graphql has all types and fields that are answered; a query with another one is rejected with the name of the
// field. All lists of a query are of one moment, which includes the unconfirmed transactions.
package ergographql
