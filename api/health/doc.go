// Package health serves the health checks of process supervisors and load balancers.
//
// /healthz is 200 while the process can read every open database. /readyz is 200 while every chain is near its tip; else
// it is 503. Both return a document with the state of each chain. The tip of a source is the one that the sync reported
// last: a request to the source per check would let clients load it. A source that stopped shows in the age of the tip.
package health
