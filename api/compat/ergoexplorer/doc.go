// Package ergoexplorer serves version 1 of the HTTP API of Ergo's explorer, so that programs that use it work
// unchanged.
//
// It answers the operations that the chain, the unconfirmed transactions or the node determine. Requests for hand-kept
// lists of tokens and for printed contracts have the status 501 and a reason. Boxes that existed before block 1 are
// part of the chain here: they have the height 0 and the first numbers.
//
// ergoTreeConstants and ergoTreeScript are empty, as the explorer itself leaves them for trees that it cannot parse:
// only the reference implementation's own printer makes these texts.
package ergoexplorer
