#!/bin/sh
# Stops the service before it is removed. Databases and the user stay.
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now birthmark.service
fi
