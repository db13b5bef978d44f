// Package charts draws the figures of the explorer as SVG on the server: bars, areas and steps over heights or
// times ([Chart]), the shares of a whole ([Shares]), and a bar beside a number ([Bar]).
//
// The result is an HTML figure: the picture, and a table of its numbers in a details element. It needs no script and no
// inline style. [Style] is part of the style sheet of the page and takes its colors from the variables named there, so
// that a chart follows the color scheme of the page.
//
// Shapes are drawn in a view box that stretches to the available width; their lines keep their width. The labels of the
// axes are outside that view box, so that they keep the font size of the page, also on a phone. Chart libraries write
// colors and sizes into each element, which the content security policy forbids.
//
// Values are float64, which is precise enough for a picture. Exact numbers are passed as text, for the table.
package charts
