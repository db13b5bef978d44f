// Package segments serves the segments that a primary records to its replicas.
//
// GET /v1/CHAIN/segments?lineage=HEX&seq=N&hash=HEX streams the segments after a position ([schema.Position]) of a
// replica; without parameters all segments of a lineage, for an empty replica. The stream consists of frames ([Frame]):
// a segment, or the state of the primary, which is sent at first, and then at least twice per second. With
// follow=false it ends after the newest segment.
//
// Errors are problem documents: 409 diverged if the database of the replica is not an earlier state of the primary's,
// 410 segment_gap if a segment is missing.
package segments
