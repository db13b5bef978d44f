// Package explorer makes the pages of the chains that are served, for people: [New] is an http.Handler for everything at /
// that is not the API's.
//
// A request for a page of a chain becomes a visit: one snapshot ([core.View]), the chain, the minute. A function of it
// asks the snapshot and returns a page: title, crumbs, the path of the same thing as JSON, and a body of plain values made
// for reading (amount, moment, link). The site puts the frame around it: the chains, the search box, how far the chain is,
// the tip. Templates are in templates/pages, one for each kind of page, over templates/layout.html and the pieces of
// templates/parts.html; they decide nothing but how things look.
//
// A page is a function of the tip, the path and the minute, so it has an ETag of these and is not made again for who has
// it. Pages of a chain that is far from its source's tip, and pages that say so themselves, have none.
//
// What a page reads is bounded, whatever it is about: lists have pages, and what would take longer is left out with a
// sentence that says so. No page needs a script, and nothing is loaded from another host.
package explorer
