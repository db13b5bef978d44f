// Package metrics is what a server tells Prometheus: how far its chains are, how its databases are, what it is asked and how
// long answers take.
//
// A [Metrics] has a registry of its own. What is about requests is counted as they pass [Metrics.Wrap]; what is about chains is
// asked when somebody scrapes. Labels have few values: routes are patterns of paths, never paths.
//
// The names are a promise to dashboards and alerts. docs/operations.md lists all of them.
package metrics
