// Package onesat serves the reading part of the API of 1sat-stack, a server for BSV-21 tokens and ordinals of BSV, so that
// programs that use it, such as the npm package @1sat/client, work unchanged. Answers have the form of 1sat-stack
// (github.com/b-open-io/1sat-stack, pkg), with the additions that version 0.0.9 of the client reads.
//
// Lists and searches have confirmed outputs only. Transactions, outputs and spenders are also found if they are
// unconfirmed. Transactions are not submitted.
package onesat
