// Package replica moves segments between machines: from the server of a primary ([HTTP]) or from a folder ([Folder]) to
// a replica, and from the log of a primary to a folder or bucket ([Publisher]).
//
// A folder or bucket of segments has one subfolder per lineage:
//
//	lineage                     the lineage of the newest publisher, in hex
//	LINEAGE/000000000042.segment
//	LINEAGE/newest              number and height of the newest segment
//	LINEAGE/fenced              the lineage that continues this one, and its first number: a promoted replica wrote it
//
// A segment never replaces another one, so that two publishers of one lineage notice each other; a
// publisher whose lineage is fenced stops. It removes segments when the log of the primary does.
package replica
