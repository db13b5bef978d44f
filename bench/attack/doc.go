// Package attack sends a server the requests that cost the most memory and time, from many clients, most of which do
// not read their answers, and measures the memory of the server and the response times of its other clients.
//
// [Prepare] makes the databases of three chains: one of Bitcoin with a script that most transactions pay to, and
// generated ones of Cardano and Ergo. [Start] serves them with every protocol in a process of the program birthmark,
// beside a node whose unconfirmed transactions pay to the same script. [Server.Run] executes an [Attack] of
// [Server.Attacks], and [Server.Visit] lets clients of every protocol come, ask, subscribe and leave:
//
//	Prepare ──► databases ──► Start ──► Server ◄── Run: clients that attack, /healthz, a client of the same protocol
//	                          node ──────┘     ◄── Visit: clients that leave
package attack
