// Package follower saves the positions of programs that follow a database, each under a name.
//
// A position is a JSON file in the folder cursors of the database, not a row: followers run beside the process that has
// the database locked. It contains blocks, newest first and thinning out, so that a follower finds the fork point after
// a reorganization. A file is complete or absent: it is written under another name, synced, and renamed.
//
// One process at a time uses a follower: it holds a lock on the file NAME.lock, which describes the process.
package follower
