// Package client is a client of the API, generated from the OpenAPI document by oapi-codegen, with a method for every
// operation and a type for every answer. `make generate` updates it; the tests of package api use it.
//
//	c, err := client.NewClientWithResponses("http://127.0.0.1:8080")
//	tx, err := c.TxWithResponse(ctx, "bitcoin", hash)
//	if tx.JSON200 == nil { /* tx.HTTPResponse.StatusCode, tx.ApplicationproblemJSONDefault.Code … */ }
//
// Streamed lists and events are read from the response: [Client.Find] and [Client.Events], with an editor that sets the
// Accept header.
package client
