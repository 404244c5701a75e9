# What installing and removing dkc means to systemd and the kubelet. The packages' scripts and the tarball's install.sh each begin with this text.
# Every step may run again, at any moment: it looks at what is there. None fails the package: what is wrong is said on stderr.
umask 022
units=/etc/systemd/system
vendor=/usr/lib/systemd/system/kubelet.service.d/20-dkc.conf
say() { printf 'dkc: %s\n' "$*" >&2; }
booted() { [ -d /run/systemd/system ]; } # not so in a chroot, where an image is built

# dkc_start first|again: the files are there. The first time the agent is enabled; from then on the administrator decides.
dkc_start() {
    # Drop-ins outside of the package: one that says what the package's says is from an installation by hand, and would hide its successors.
    cmp -s "$vendor" "$units/kubelet.service.d/20-dkc.conf" && rm -f "$units/kubelet.service.d/20-dkc.conf"
    for drop_in in "$units"/*.service.d/20-dkc.conf.removed; do # put aside by dkc_end
        [ ! -e "$drop_in" ] || mv "$drop_in" "${drop_in%.removed}"
    done
    [ "$1" != first ] || systemctl --quiet enable dkc-agent.service || say 'cannot enable dkc-agent.service'
    booted || return 0
    systemd-tmpfiles --create dkc.conf || say 'cannot create /var/lib/dkc and /run/dkc'
    systemctl daemon-reload
    verb=try-restart
    ! systemctl --quiet is-enabled dkc-agent.service || verb=restart
    systemctl "$verb" dkc-agent.service || say 'dkc-agent.service failed to start; see: journalctl -u dkc-agent'
}

# dkc_stop: the files will be removed. The kubelet runs on.
dkc_stop() {
    booted || return 0
    # Removed before, by another run: there is nothing to stop, and nothing to say.
    [ "$(systemctl show -P LoadState dkc-agent.service)" = not-found ] || systemctl stop dkc-agent.service || true
}

# dkc_end: the files are gone. Every kubelet that runs on a file of ours goes back to its local configuration, by one restart.
dkc_end() {
    kubelets=kubelet.service
    for drop_in in "$units"/*.service.d/20-dkc.conf; do # the administrator's: without the agent they would keep a kubelet on its last file
        [ -e "$drop_in" ] || continue
        mv "$drop_in" "$drop_in.removed"
        unit=${drop_in%.d/*}
        kubelets="$kubelets ${unit##*/}"
    done
    booted || return 0
    systemctl daemon-reload
    systemctl stop dkc-agent.service 2>/dev/null || true # a kubelet that started meanwhile has started it
    for unit in $(printf '%s\n' $kubelets | sort -u); do
        case $(systemctl show -P ActiveState "$unit") in
        failed)
            systemctl reset-failed "$unit"
            systemctl start "$unit" || say "$unit failed to start; see: journalctl -u $unit"
            ;;
        inactive) ;;
        *)
            pid=$(systemctl show -P MainPID "$unit")
            # Between two tries (pid 0) the next one reads the local configuration by itself.
            [ "$pid" = 0 ] || ! grep -q -e '--config=/var/lib/dkc/' -e '--config=/run/dkc/' "/proc/$pid/cmdline" 2>/dev/null ||
                systemctl try-restart "$unit" || say "$unit failed to start; see: journalctl -u $unit"
            ;;
        esac
    done
    rm -rf /run/dkc
}

# dkc_purge: nothing of dkc stays, settings, checkpoints and history neither.
dkc_purge() {
    rm -rf /etc/dkc /run/dkc "$units/dkc-agent.service.d"
    rm -f "$units/dkc-agent.service" "$units/multi-user.target.wants/dkc-agent.service" "$units"/*.service.d/20-dkc.conf.removed
    rm -rf /var/lib/dkc || say 'cannot remove all of /var/lib/dkc'
    rmdir "$units/kubelet.service.d" "$units/multi-user.target.wants" 2>/dev/null || true
    ! booted || systemctl daemon-reload
}
