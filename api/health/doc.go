// Package health says whether a server lives and whether it is ready: for those who start it again, and for those who send it
// clients.
//
// /healthz is 200 while the process answers and can read each database that is open. /readyz is 200 once every chain is near
// its tip, and 503 before, with a document that says how far each is.
package health
