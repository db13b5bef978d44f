// Package explorer serves the web pages of the chains of a server: [New] returns a handler for every path below / that is
// not part of the API.
//
// A request for a page of a chain becomes a visit: one snapshot ([query.View]), the chain, and the current minute. A
// method of the visit reads the snapshot and returns a page: title, breadcrumbs, the path of the same data as JSON, and a
// body of formatted values (amount, moment, link). The site adds the frame: navigation, search box, sync progress and
// tip. Templates are in templates/pages, one for each kind of page, over templates/layout.html and templates/parts.html;
// they contain no logic except layout.
//
// A page is determined by the tip, the path and the minute, which its ETag identifies. Pages of a chain far from its
// source's tip, and volatile pages, have no ETag. No page is cached here: most take less than a millisecond.
//
// The work for a page is bounded: lists have pages, and a part that would take too long is replaced by a note, because
// a part of a sum would be wrong. Pages work without scripts, and load nothing from other hosts.
package explorer
