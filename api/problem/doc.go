// Package problem writes errors of all parts of the server as problem documents (RFC 9457), with the codes of the command
// line.
package problem
