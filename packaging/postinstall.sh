#!/bin/sh
# Creates the user of the service and its folders. The service is not started: edit /etc/birthmark/birthmark.yaml first.
set -e
if ! getent passwd birthmark >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/birthmark --shell /usr/sbin/nologin birthmark
fi
install -d -m 750 -o birthmark -g birthmark /var/lib/birthmark
chgrp birthmark /etc/birthmark /etc/birthmark/birthmark.yaml
chmod 750 /etc/birthmark
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  if [ "$1" = configure ] && [ -n "$2" ]; then # an upgrade
    systemctl try-restart birthmark.service
  fi
fi
