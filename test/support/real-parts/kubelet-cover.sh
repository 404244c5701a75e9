#!/bin/bash
# Runs a kubelet so that it changes nothing of this machine beyond the folders it is given, and becomes it: same process id.
#
# usage: kubelet-cover.sh [--kubelet-dir DIR] [--pod-logs DIR] [--] COMMAND [ARG]...
#   --kubelet-dir DIR   what the command sees as /var/lib/kubelet        (or DKC_KUBELET_DIR)
#   --pod-logs DIR      what the command sees as /var/log/pods           (or DKC_POD_LOGS)
# Both are made when absent. The command dies with the process that started this. Needs root. Works on a plain machine and as ExecStart= of a unit.
#
# What stays behind: these two and /var/log/containers, empty, where the machine did not have them. A mount needs something to be mounted on.
set -euo pipefail

# A kubelet insists on values of its own for these, or dies where it cannot write them. One makes the machine reboot on a kernel panic.
readonly sysctls=(vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes)

fail() {
  printf 'kubelet-cover: %s\n' "$*" >&2
  exit 2
}

kubelet_dir=${DKC_KUBELET_DIR:-} pod_logs=${DKC_POD_LOGS:-}
while [ $# -gt 0 ]; do
  case $1 in
    --kubelet-dir) kubelet_dir=${2?} && shift 2 ;;
    --pod-logs) pod_logs=${2?} && shift 2 ;;
    --)
      shift
      break
      ;;
    -*) fail "there is no option $1" ;;
    *) break ;;
  esac
done
[ -n "$kubelet_dir" ] || fail 'say by --kubelet-dir what the kubelet shall see as /var/lib/kubelet'
[ -n "$pod_logs" ] || fail 'say by --pod-logs what the kubelet shall see as /var/log/pods'
[ $# -gt 0 ] || fail 'there is no command to run'

# Once more, in a mount namespace of our own: all mounts below vanish with the kubelet. Every exec keeps the process id, and the signal
# at the parent's death: a test that is killed leaves no kubelet behind.
if [ -z "${DKC_COVER_INSIDE:-}" ]; then
  DKC_COVER_INSIDE=1 exec setpriv --pdeathsig KILL unshare --mount --propagation private -- \
    "$BASH" "${BASH_SOURCE[0]}" --kubelet-dir "$kubelet_dir" --pod-logs "$pod_logs" -- "$@"
fi
unset DKC_COVER_INSIDE

# Plain copies take every value. They are deleted right away: a mounted file lives on without its name.
copies=$(mktemp -d)
for name in "${sysctls[@]}"; do
  copy=$copies/${name//\//.}
  cat "/proc/sys/$name" >"$copy"
  mount --bind "$copy" "/proc/sys/$name"
done
rm -rf "$copies"

# These places are fixed in the kubelet, whatever its flags say.
cover() {
  mkdir -p "$1" "$2"
  mount --bind "$1" "$2"
}
cover "$kubelet_dir" /var/lib/kubelet
cover "$pod_logs" /var/log/pods
mkdir -p /var/log/containers # only links to the pod logs, which may go with the kubelet
mount -t tmpfs -o mode=755 container-logs /var/log/containers

# Without it the kubelet does not start; it only reads there about processes that ran out of memory.
[ -e /dev/kmsg ] || ln -s null /dev/kmsg 2>/dev/null || [ -e /dev/kmsg ] || fail 'cannot make /dev/kmsg'

# Else the kubelet looks for a cloud around it.
export AWS_EC2_METADATA_DISABLED=true

exec "$@"
