// Package metrics exports the metrics of a server to Prometheus: chains, databases, requests and connections.
//
// A [Metrics] has its own registry. Requests are counted by [Metrics.Wrap]; chains are read at each scrape. Labels have
// few values: a route is the pattern of a path, never the path.
//
// Dashboards and alerts depend on the names. docs/operations.md lists them.
package metrics
