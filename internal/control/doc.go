// Package control lets a process add or drop an index of a database that another process writes, since the lock of the
// store lets only one process write.
//
// The writing process serves a Unix socket in the database's folder ([Serve]); only the owner of the files can connect.
// A connection carries one [Request] and one [Reply], each a line of JSON ([Ask]). A socket file that a dead process
// left does not answer, and the next server replaces it.
package control
