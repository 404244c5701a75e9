#!/bin/sh
# install.sh - installs dkc from the folder that this script is in, or an upgrade, or a downgrade. Run it again at any time: it finishes or undoes
# what an interrupted run has left.
#
# usage: ./install.sh               install, upgrade or downgrade; settings in /etc/dkc/agent.yaml stay as they are
#        ./install.sh --uninstall   remove it: the kubelet goes back to its local configuration, settings and checkpoints stay
#        ./install.sh --purge       and settings, checkpoints and history with it
# Once installed: /usr/lib/dkc/uninstall [--purge]
#
# Exit: 0 done; 2 called wrongly; 3 could not do it, nothing changed or run it again.

set -eu
#steps#
lib=/usr/lib/dkc
record=$lib/manifest       # what is installed: one line per file, `MODE PATH`
unfinished=$lib/manifest.unfinished # all files that an interrupted run may have left
made=$lib/folders          # directories that an install has created, each before its parent
refuse() { say "$*"; exit 3; }

mode=install
case ${0##*/} in uninstall) mode=uninstall ;; esac
case $#:${1-} in
0:) ;;
1:--uninstall) mode=uninstall ;;
1:--purge) mode=purge ;;
*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
[ "$(id -u)" = 0 ] || refuse 'permission denied: run this as root'
case $(dpkg-query -W -f '${db:Status-Status}' dkc 2>/dev/null) in
'' | not-installed | config-files) ;;
*) refuse 'dkc was installed as a .deb: use apt instead' ;;
esac
! rpm -q dkc >/dev/null 2>&1 || refuse 'dkc was installed as an .rpm: use dnf or rpm instead'

here=$(cd "$(dirname "$0")" && pwd)

installed_files() { # paths of this and of earlier runs, each once
    cat "$record" "$unfinished" "$here/manifest" 2>/dev/null | cut -d' ' -f2- | sort -u
}

remove_files() {
    # The drop-in first, so that from here on no start of the kubelet starts the agent.
    rm -f "$vendor" "$vendor.dkc-new"
    installed_files | while read -r path; do
        case $path in
        "$record" | "$unfinished" | /etc/*) ;;
        *) rm -f "$path" "$path.dkc-new" ;;
        esac
    done
    # Other directories stay, even empty ones: an installed shell needs its directory of completions.
    [ ! -e "$made" ] || while read -r dir; do rmdir "$dir" 2>/dev/null || true; done <"$made"
}

install_files() {
    (cd "$here/files" && sha256sum --quiet -c ../sha256sums) || refuse 'a file is missing or damaged: unpack the tarball again'
    version=$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
    [ "${version:-0}" -ge 252 ] || refuse "systemd 252 or newer is required, found ${version:-none}"
    mkdir -p $lib
    mkdir -p -m 0700 /etc/dkc
    first=again
    [ -e $record ] || first=first
    # Recorded before any file is installed, so that an uninstall finds all files even after an interruption.
    cat "$record" "$unfinished" "$here/manifest" 2>/dev/null | sort -u >$unfinished.new
    mv -f $unfinished.new $unfinished
    {
        cat "$made" 2>/dev/null || true
        while read -r _ path; do
            dir=${path%/*}
            while [ ! -d "$dir" ]; do
                echo "$dir"
                dir=${dir%/*}
            done
        done <"$here/manifest"
    } | sort -ur >$made.new
    mv -f $made.new $made
    cp "$0" $lib/uninstall.new && chmod 0755 $lib/uninstall.new && mv -f $lib/uninstall.new $lib/uninstall
    # First copies all files next to their destinations, which takes long, then renames them; the kubelet's drop-in is last in the list.
    while read -r bits path; do
        mkdir -p "${path%/*}"
        cp -P "$here/files$path" "$path.dkc-new"
        [ -L "$path.dkc-new" ] || { chmod "$bits" "$path.dkc-new" && sync "$path.dkc-new"; }
    done <"$here/manifest"
    while read -r _ path; do
        if [ "$path" = /etc/dkc/agent.yaml ] && [ -e "$path" ]; then rm -f "$path.dkc-new"; else mv -fT "$path.dkc-new" "$path"; fi
    done <"$here/manifest"
    # Files of the previous version that this version does not have.
    cut -d' ' -f2- "$here/manifest" | sort >$unfinished.now
    cut -d' ' -f2- $unfinished | sort -u | comm -23 - $unfinished.now | while read -r path; do
        case $path in /etc/*) ;; *) rm -f "$path" "$path.dkc-new" ;; esac
    done
    rm -f $unfinished.now
    dkc_start "$first"
    cp "$here/manifest" $record.new && mv -f $record.new $record
    rm -f $unfinished
    sync $lib
}

case $mode in
install)
    [ -e "$here/manifest" ] && [ -d "$here/files" ] || refuse "there are no files to install beside $0"
    install_files
    say "installed $(/usr/bin/dkc version | cut -d, -f1)"
    ;;
*)
    dkc_stop
    remove_files
    dkc_end
    [ $mode != purge ] || dkc_purge
    rm -rf $lib
    say 'removed'
    ;;
esac
