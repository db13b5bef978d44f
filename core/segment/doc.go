// Package segment ships the updates of a database to replicas.
//
// A [Segment] is the changes of one update: its rows by family, with the number of the update in its lineage and the
// hash of the segment before. [Recorder] wraps the store of a primary: it numbers every update, in the same atomic
// write, and records ordinary updates in a [Log]. Updates in bulk, of a first sync, are numbered but not recorded: they
// leave a gap, which a replica cannot cross. [Apply] writes a segment to the store of a replica as one update.
//
// A segment is written and synced as SEQ.pending before the update, and renamed to SEQ.segment after it. When the log is
// opened, the position in the store shows whether the update happened: a pending segment is then renamed or removed. So
// the log and the database never disagree. This needs a store whose updates are durable when they return.
//
// A lineage is the updates of one primary, and is random. A database that is written in another folder than the one of
// its log, because it was restored from a copy or was a replica, gets a new lineage: its first segment is a promotion,
// which names the lineage that it continues. Replicas at exactly that update can follow it.
package segment
