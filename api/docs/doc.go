// Package docs makes the documents of the API from the table of its operations: OpenAPI, and the reference as a page.
package docs
