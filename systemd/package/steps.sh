# Steps for systemd and the kubelet when dkc is installed or removed. The scripts of the packages and the tarball's install.sh begin with this text.
# Every step is idempotent and may be interrupted. None fails the package: errors are printed on stderr.
umask 022
units=/etc/systemd/system
vendor=/usr/lib/systemd/system/kubelet.service.d/20-dkc.conf
say() { printf 'dkc: %s\n' "$*" >&2; }
booted() { [ -d /run/systemd/system ]; } # false in a chroot, as in an image build

# dkc_start first|again: after the files are installed. The first time enables the agent; from then on the administrator decides.
dkc_start() {
    # A drop-in in /etc with the content of the package's comes from an installation by hand, and would hide the package's later versions.
    cmp -s "$vendor" "$units/kubelet.service.d/20-dkc.conf" && rm -f "$units/kubelet.service.d/20-dkc.conf"
    for drop_in in "$units"/*.service.d/20-dkc.conf.removed; do # renamed by dkc_end
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

# dkc_stop: before the files are removed. The kubelet keeps running.
dkc_stop() {
    booted || return 0
    # Already removed by another run: there is nothing to stop, and that is no error.
    [ "$(systemctl show -P LoadState dkc-agent.service)" = not-found ] || systemctl stop dkc-agent.service || true
}

# dkc_end: after the files are removed. Restarts every kubelet that uses a file of dkc once, with its local configuration.
dkc_end() {
    kubelets=kubelet.service
    for drop_in in "$units"/*.service.d/20-dkc.conf; do # the administrator's drop-ins: without the agent they would keep a kubelet on its last file
        [ -e "$drop_in" ] || continue
        mv "$drop_in" "$drop_in.removed"
        unit=${drop_in%.d/*}
        kubelets="$kubelets ${unit##*/}"
    done
    booted || return 0
    systemctl daemon-reload
    systemctl stop dkc-agent.service 2>/dev/null || true # a kubelet that started in between has started the agent
    for unit in $(printf '%s\n' $kubelets | sort -u); do
        case $(systemctl show -P ActiveState "$unit") in
        failed)
            systemctl reset-failed "$unit"
            systemctl start "$unit" || say "$unit failed to start; see: journalctl -u $unit"
            ;;
        inactive) ;;
        *)
            pid=$(systemctl show -P MainPID "$unit")
            # Between two starts (pid 0) nothing is needed: the next start reads the local configuration.
            [ "$pid" = 0 ] || ! grep -q -e '--config=/var/lib/dkc/' -e '--config=/run/dkc/' "/proc/$pid/cmdline" 2>/dev/null ||
                systemctl try-restart "$unit" || say "$unit failed to start; see: journalctl -u $unit"
            ;;
        esac
    done
    rm -rf /run/dkc
}

# dkc_purge: removes all of dkc, also settings, checkpoints and history.
dkc_purge() {
    rm -rf /etc/dkc /run/dkc "$units/dkc-agent.service.d"
    rm -f "$units/dkc-agent.service" "$units/multi-user.target.wants/dkc-agent.service" "$units"/*.service.d/20-dkc.conf.removed
    rm -rf /var/lib/dkc || say 'cannot remove all of /var/lib/dkc'
    rmdir "$units/kubelet.service.d" "$units/multi-user.target.wants" 2>/dev/null || true
    ! booted || systemctl daemon-reload
}
