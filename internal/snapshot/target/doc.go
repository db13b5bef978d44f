// Package target stores the files of snapshots and exports: in a folder, in S3-compatible object storage, or, only to
// read, behind HTTPS. It knows nothing of databases.
//
// A file appears under its name as a whole: a folder renames it, S3 shows an object after its last byte. A failed or
// killed Put leaves the previous file.
package target
