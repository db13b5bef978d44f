// Package replica moves segments between machines: from the server of a primary ([HTTP]) or from a folder ([Folder]) to
// a replica, and from the log of a primary to a folder ([Publisher]).
//
// A folder of segments has one subfolder per lineage:
//
//	lineage                     the lineage of the newest publisher, in hex
//	LINEAGE/000000000042.segment
//	LINEAGE/newest              number and height of the newest segment
//	LINEAGE/fenced              the lineage that continues this one, and its first number: a promoted replica wrote it
//
// A segment is created under its name only if there is none, so that two publishers of one lineage notice each other; a
// publisher whose lineage is fenced stops.
package replica
