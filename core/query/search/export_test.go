package search

var Readings = readings
