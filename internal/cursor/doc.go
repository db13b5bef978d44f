// Package cursors keeps how far programs that follow a database have come, each under a name.
//
// A cursor is a file of JSON in the folder cursors of the database's own, and no row of it: who follows runs beside the
// process that writes the database, which has it locked. It names blocks, newest first and thinning out, so that one who
// slept through a fork finds where to go on. A file is whole or absent: it is written beside, made durable, and renamed.
//
// One process at a time uses a cursor: it holds a lock on the file NAME.lock, which says who it is.
package cursor
