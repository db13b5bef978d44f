// Package served describes the chains of a server to its parts. It hides whether a sync of this process or another
// process writes the database.
package served
