module interop

go 1.26.0

require github.com/blockfrost/blockfrost-go v0.5.0

require (
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.5 // indirect
)
