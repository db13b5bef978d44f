// Package control lets another process change the indexes of a database while this one writes it: only one process can
// hold the lock of a database. A sync that follows its chain never ends, and to stop it would leave the tip behind for
// hours. A file of requests would have to be polled, and gives no answer.
//
// The writing process serves HTTP on a Unix socket in the folder of the database ([Serve]). Only its user can open the
// socket. A request is POST / with a [Request] as JSON; the response is a [Reply] ([Ask]). A socket that a killed process
// left behind is replaced by the next server. The remaining work is recorded in the database: if the writing process
// ends, the command that waits takes the lock and continues.
package control
