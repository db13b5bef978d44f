// Package health serves the health checks of process supervisors and load balancers.
//
// /healthz is 200 while the process can read every open database. /readyz is 200 while every chain is near its tip; else
// it is 503. Both return a document with the state of each chain.
package health
