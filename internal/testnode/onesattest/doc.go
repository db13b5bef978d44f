// Package onesattest makes chains with BSV-21 tokens and ordinals for tests, in blocks of regtest: [NewScenario] has one
// transaction of each kind, and a [World] has random ones with a slow model of what every output holds.
package onesattest
