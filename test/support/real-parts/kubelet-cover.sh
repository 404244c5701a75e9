#!/bin/bash
# Runs a kubelet so that it changes nothing of this machine beyond the folders it is given, and becomes it: same process id.
#
# usage: kubelet-cover.sh [--kubelet-dir DIR] [--pod-logs DIR] [--cgroup NAME] [--sysctls-read-only] [--] COMMAND [ARG]...
#   --kubelet-dir DIR   what the command sees as /var/lib/kubelet        (or DKC_KUBELET_DIR)
#   --pod-logs DIR      what the command sees as /var/log/pods           (or DKC_POD_LOGS)
#   --cgroup NAME       the command runs in the cgroup NAME of every hierarchy and sees it as the root, so that cgroupsPerQOS may be on;
#                       the caller removes NAME afterwards
#   --sysctls-read-only the kernel settings that a kubelet writes cannot be written, as in a container
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

kubelet_dir=${DKC_KUBELET_DIR:-} pod_logs=${DKC_POD_LOGS:-} cgroup='' read_only=''
while [ $# -gt 0 ]; do
  case $1 in
    --kubelet-dir) kubelet_dir=${2?} && shift 2 ;;
    --pod-logs) pod_logs=${2?} && shift 2 ;;
    --cgroup) cgroup=${2?} && shift 2 ;;
    --sysctls-read-only) read_only=1 && shift ;;
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
  flags=(--mount --propagation private) again=(--kubelet-dir "$kubelet_dir" --pod-logs "$pod_logs")
  [ -z "$read_only" ] || again+=(--sysctls-read-only)
  if [ -n "$cgroup" ]; then
    hierarchies=(/sys/fs/cgroup/*/)
    [ ! -e /sys/fs/cgroup/cgroup.controllers ] || hierarchies=(/sys/fs/cgroup/)
    for hierarchy in "${hierarchies[@]}"; do
      mkdir -p "$hierarchy$cgroup"
      # Empty ones admit no process (v1 only).
      for file in cpuset.cpus cpuset.mems; do
        [ -e "/sys/fs/cgroup/cgroup.controllers" ] || [ ! -e "$hierarchy$file" ] || cat "$hierarchy$file" >"$hierarchy$cgroup/$file"
      done
      echo $$ >"$hierarchy$cgroup/cgroup.procs"
    done
    flags+=(--cgroup) again+=(--cgroup "$cgroup")
  fi
  DKC_COVER_INSIDE=1 exec setpriv --pdeathsig KILL unshare "${flags[@]}" -- "$BASH" "${BASH_SOURCE[0]}" "${again[@]}" -- "$@"
fi
unset DKC_COVER_INSIDE

# Mounted again, so that the root is our own cgroup.
if [ -n "$cgroup" ]; then
  grep -E '^\S+ \S+ cgroup2? ' /proc/self/mounts | while read -r _ at kind options _; do
    umount "$at"
    controllers=$(tr , '\n' <<<"$options" | grep -vxE 'rw|ro|relatime|nosuid|nodev|noexec|nsdelegate|memory_recursiveprot' | paste -sd, || true)
    mount -t "$kind" ${controllers:+-o "$controllers"} cgroup "$at"
  done
fi

# Plain copies take every value. They are deleted right away: a mounted file lives on without its name.
copies=$(mktemp -d)
for name in "${sysctls[@]}"; do
  if [ -n "$read_only" ]; then
    mount --bind "/proc/sys/$name" "/proc/sys/$name"
    mount -o remount,bind,ro "/proc/sys/$name"
    continue
  fi
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
