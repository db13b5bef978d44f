# The image of a release. tools/image.sh lays out its files in the folder of the context and builds it without a daemon.
FROM scratch
COPY root/ /
# Databases are in /var/lib/birthmark, in a folder per chain and network.
COPY --chown=10001:10001 data/ /var/lib/birthmark/
ENV XDG_DATA_HOME=/var/lib
USER 10001:10001
VOLUME /var/lib/birthmark
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["birthmark", "health"]
ENTRYPOINT ["birthmark"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--chain", "bitcoin", "--network", "signet", "--source", "p2p://", "--index", "explorer"]
