// Package answers makes answers from an overlay of unconfirmed transactions. A [Reader] formats outputs as the answers
// of package query do. A [Selection] is the outputs that match the terms of a search. A [Watch] is the events of a
// selection: transactions that arrive, and that leave without confirmation.
package answers
