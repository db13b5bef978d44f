// Package jsonappend appends values as JSON, as encoding/json writes them without escapes for HTML, in a third of the
// time: each type is examined once, and most strings need no escapes. A type can append itself: [Value].
//
// It reads the tags of members that the project uses: a name with omitempty or omitzero, string of
// numbers, and "-". A type with a MarshalJSON
// method is left to encoding/json.
package jsonappend
