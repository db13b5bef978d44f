# syntax=docker/dockerfile:1
# Builds and runs Birthmark: docker build -t birthmark . ; see compose.yaml and docs/install.md.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY tools/setup.sh tools/setup.sh
RUN tools/setup.sh
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The commit comes from the folder .git, if the context has it.
RUN tools/release.sh binary /out/birthmark && tools/release.sh licenses >/out/copyright

FROM debian:12-slim
RUN apt-get update \
 && apt-get install --no-install-recommends --yes ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --user-group --uid 10001 --home-dir /var/lib/birthmark --no-create-home --shell /usr/sbin/nologin birthmark \
 && install -d -m 750 -o birthmark -g birthmark /var/lib/birthmark
COPY --from=build /out/birthmark /usr/local/bin/birthmark
COPY --from=build /out/copyright /usr/share/doc/birthmark/copyright
USER birthmark
# Databases are in /var/lib/birthmark, in a folder per chain and network.
ENV XDG_DATA_HOME=/var/lib
VOLUME /var/lib/birthmark
EXPOSE 8080
STOPSIGNAL SIGTERM
# The image has no HTTP client: bash sends the request.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["bash", "-c", \
  "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["birthmark"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--chain", "bitcoin", "--network", "signet", "--source", "p2p://", "--index", "explorer"]
