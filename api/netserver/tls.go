package netserver

import (
	"crypto/tls"
	"log/slog"

	"birthmark/api/filewatch"
	"birthmark/model"
)

// CheckCertificate reads a certificate and its key; the error is of kind [model.Usage].
func CheckCertificate(cert, key string) error {
	_, err := readCertificate(cert, key)
	return err
}

func readCertificate(cert, key string) (*tls.Certificate, error) {
	c, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_tls", "tls: %s, %s: %w", cert, key, err)
	}
	return &c, nil
}

// TLSConfig returns a TLS configuration whose certificate is read again when its PEM files change.
func TLSConfig(cert, key string, log *slog.Logger) (*tls.Config, error) {
	pair, err := filewatch.Watch(log, func() (*tls.Certificate, error) {
		c, err := readCertificate(cert, key)
		if err == nil {
			filewatch.WarnReadable(log, "the TLS key", key)
		}
		return c, err
	}, cert, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.Value(), nil },
	}, nil
}
