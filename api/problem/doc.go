// Package problem is how every part of the server says that there is no answer: a JSON document as RFC 9457 has it, with
// the codes that the command line uses too.
package problem
