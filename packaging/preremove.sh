#!/bin/sh
# Stops the service and disables it.
set -e
if [ "$1" = remove ]; then
  if [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop birthmark.service >/dev/null || true
  fi
  deb-systemd-helper disable birthmark.service >/dev/null || true
fi
