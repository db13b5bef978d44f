// Package adapter has the parts of a chain adapter that are the same for every chain: [Base] implements the methods of
// [birthmark/model.Chain] about names, indexes and hashes, [Networks] finds a network by name, [Base.Select] checks the
// indexes of a decoder, [Base.Open] finds the kind of source that a URI names, and [Checkpoints] rejects blocks of
// other chains. The rest are small helpers for errors.
package adapter
