// Package snapshot stores copies of databases outside of their machine, and restores them.
//
// A repository is a folder, a prefix of a bucket, or a web server (package target) with the snapshots of one chain and
// network:
//
//	latest.json                       the name of the newest snapshot, and of all: the only file that changes
//	snapshots/NAME.json               the manifest of a snapshot: tip, counts, and its files with their SHA-256
//	snapshots/NAME.json.minisig       its signature, if it is signed
//	files/3f/3f9a…                    a file by its SHA-256, shared by all snapshots that contain it
//
// The name of a snapshot ends with the first 16 digits of the SHA-256 of its manifest. So every byte of a repository is
// covered by a checksum in a name or in a manifest, and all but the signature's first line by the signature.
//
// Create stores the files of a checkpoint: hard links to the files of a database at one moment. Tables never change, so
// most are in the repository already. latest.json is written last: a killed Create leaves only files that no manifest
// names, which the next one uses.
//
// Restore writes into DIR.restoring and renames it to DIR at the end. RocksDB's file CURRENT, without which the folder is
// no database, is written after all other files were checked. A killed Restore continues where it stopped.
package snapshot
