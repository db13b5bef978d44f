#!/bin/sh
# Creates the user of the service and its folders. The service is not started: edit /etc/birthmark/birthmark.yaml first.
# After an upgrade, a running service is restarted.
set -e
if [ "$1" = configure ]; then
  if ! getent passwd birthmark >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/birthmark --no-create-home --shell /usr/sbin/nologin birthmark
  fi
  install -d -m 750 -o birthmark -g birthmark /var/lib/birthmark
  chgrp birthmark /etc/birthmark /etc/birthmark/birthmark.yaml
  chmod 750 /etc/birthmark
  if [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
    if [ -n "$2" ]; then
      deb-systemd-invoke try-restart birthmark.service >/dev/null || true
    fi
  fi
fi
