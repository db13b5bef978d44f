// Package control lets another process change the indexes of a database while this one writes it: only one process can
// hold the lock of a database.
//
// The writing process serves HTTP on a Unix socket in the folder of the database ([Serve]). Only its user can open the
// socket. A request is POST / with a [Request] as JSON; the response is a [Reply] ([Ask]). A socket that a killed process
// left behind is replaced by the next server.
package control
