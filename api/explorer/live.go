package explorer

import "net/url"

// following is the query of the events of a value of an index: its outputs, and what spends them.
func following(index, value string) string {
	return "?follow=" + url.QueryEscape(index+"="+value) + "&spends=true"
}
