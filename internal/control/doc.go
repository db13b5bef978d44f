// Package control is how one process asks another, which writes a database, to add or drop one of its indexes: the lock of the
// store lets one process write.
//
// The process that writes serves a Unix socket in the database's folder ([Serve]); who may open it is who may read the
// owner's files. A connection carries one [Request] and one [Reply], a line of JSON each ([Ask]). A socket that a process left
// behind answers nobody, and the next one to serve takes its place.
package control
