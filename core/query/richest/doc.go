// Package richest ranks the values of an index by balance.
package richest
