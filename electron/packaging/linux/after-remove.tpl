#!/bin/bash
# electron-builder's own, with two changes: it does nothing at an update, where rpm runs the old package's script after the
# new one's (the link and the AppArmor profile would be gone), and it tells the caches of the desktop.

case "$1" in
  # dpkg names what it does; rpm says how many of this package are left
  upgrade | failed-upgrade | abort-install | abort-upgrade | disappear | [1-9]*) exit 0 ;;
esac

if type update-alternatives >/dev/null 2>&1; then
  update-alternatives --remove '${executable}' '/opt/${sanitizedProductName}/${executable}'
else
  rm -f '/usr/bin/${executable}'
fi

APPARMOR_PROFILE='/etc/apparmor.d/${executable}'
if [ -f "$APPARMOR_PROFILE" ]; then
  # unloaded before it is deleted: it would stay in force until the next start
  if apparmor_status --enabled >/dev/null 2>&1 && ! { [ -x /usr/bin/ischroot ] && /usr/bin/ischroot; }; then
    apparmor_parser --remove "$APPARMOR_PROFILE" || true
  fi
  rm -f "$APPARMOR_PROFILE"
fi

if hash update-mime-database 2>/dev/null; then
  update-mime-database /usr/share/mime || true
fi
if hash update-desktop-database 2>/dev/null; then
  update-desktop-database /usr/share/applications || true
fi
if hash gtk-update-icon-cache 2>/dev/null; then
  gtk-update-icon-cache --quiet --force --ignore-theme-index /usr/share/icons/hicolor || true
fi
exit 0
