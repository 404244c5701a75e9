#!/bin/bash
# Builds programs of Kubernetes 1.20.2 from Debian's source package, for tests against the real thing.
#
# usage: build.sh PART...
#   PART: kubelet kubelet-validate kube-apiserver kube-controller-manager kube-scheduler kubectl etcd
#
# stdout: the folder that holds the parts (and protos/, the container runtime interface), as the last line.
# stderr: progress, each line with the seconds since the start.
# exit:   0 all parts are there; 77 this machine cannot build them (a test suite skips then); else it failed.
#
# Nothing is installed and nothing of the machine changes: packages are downloaded with an apt of our own and only unpacked.
# It needs no root, but Debian 12 with its package sources, 2.5 GB of free disk, and one to five minutes for what is not cached.
set -euo pipefail

readonly release=1.20.2
readonly package_version='1.20.5+really1.20.2-1.1+deb12u1'
# Only shown by --version; tests recognise the build by it.
readonly commit=faecb196815e248d3ecfb03c680a4507229c2a56
readonly go=1.19

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'real parts %4ds  %s\n' "$SECONDS" "$*" >&2; }
fail() {
  say "$*"
  exit 1
}
skip() {
  say "skipped: $*"
  exit 77
}

needs_debian() {
  local tool
  for tool in "$@"; do
    type -P "$tool" >/dev/null || skip "building Kubernetes $release needs Debian 12, and there is no $tool here"
  done
}

# ---- what is asked for, and what is there already

[ $# -gt 0 ] || fail 'name the parts to build, for example: build.sh kubelet kubelet-validate'
for part in "$@"; do
  case $part in
    kubelet | kubelet-validate | kube-apiserver | kube-controller-manager | kube-scheduler | kubectl | etcd) ;;
    *) fail "there is no part named $part" ;;
  esac
done

needs_debian sha256sum # the first that another system may lack
cache=${DKC_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set; set DKC_CACHE to a folder instead}/.cache}/dkc}/real-$release
# The package version is a line of this script, so the hash covers it. A newer Debian revision (see fetch_source) needs no key of its
# own: only the upstream tarball is used, and that does not change.
key=$(cat "${BASH_SOURCE[0]}" "$here/kubelet-validate/main.go" | sha256sum | cut -c1-16)
out=$cache/$key

missing_parts() {
  missing=()
  for part in "$@"; do
    [ -x "$out/$part" ] || missing+=("$part")
  done
}

missing_parts "$@"
if [ ${#missing[@]} = 0 ]; then
  echo "$out"
  exit 0
fi

# ---- can this machine build?

needs_debian apt-get apt-cache dpkg-deb flock tar
codename=$(. /etc/os-release && echo "${ID:-}-${VERSION_CODENAME:-}")
[ "$codename" = debian-bookworm ] || skip "building Kubernetes $release needs Debian 12 (bookworm), and this is $codename"

# ---- one build at a time, in a scratch folder that goes away however this ends

mkdir -p "$out"
exec 9>"$cache/lock"
if ! flock --nonblock 9; then
  say 'waiting for another build to end'
  flock 9
fi
missing_parts "$@" # the other build may have made them
if [ ${#missing[@]} = 0 ]; then
  echo "$out"
  exit 0
fi

rm -rf "$cache"/scratch.* # we hold the lock, so these belong to builds that were killed
scratch=$(mktemp -d "$cache/scratch.XXXXXX") # beside the parts: moving them there is one rename
log=$scratch/log
child=''
leave() {
  local status=$?
  trap '' HUP INT TERM
  [ -z "$child" ] || kill -KILL -- "-$child" 2>/dev/null || true
  rm -rf "$scratch" || { sleep 0.5 && rm -rf "$scratch"; } # a compiler that was just killed may still have made a file
  exit "$status"
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command quietly. It gets a process group of its own (set -m), and bash waits for it with the wait builtin: only so a signal to
# this script ends a long compilation at once.
attempt() {
  local status=0
  set -m
  nice "$@" </dev/null >"$log" 2>&1 &
  child=$!
  set +m
  wait "$child" || status=$?
  child=''
  return "$status"
}

run() {
  local status=0
  attempt "$@" || status=$?
  [ "$status" = 0 ] || {
    tail -n 30 "$log" >&2
    fail "failed with status $status: ${*:1:6}"
  }
}

# ---- fetch: an apt of our own, so that source packages may be asked for where the machine's lists have none

apt=$scratch/apt
debs=$scratch/debs
root=$scratch/root
mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial" "$debs" "$root"
: >"$apt/none.list"
apt_options=(
  -o "Dir::Etc::SourceList=$apt/none.list" -o "Dir::Etc::SourceParts=$apt/sources"
  -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache"
  -o APT::Sandbox::User= # the scratch folder is ours alone, and _apt could not write to it
  -o Acquire::Languages=none
)

copy_sources() {
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || sed -E 's/^Types:.*/Types: deb deb-src/' "$file" >"$apt/sources/${file##*/}"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$file" ] || sed -nE 's/^deb(-src)? (.*)/deb \2\ndeb-src \2/p' "$file" | sort -u >"$apt/sources/${file##*/}"
  done
}

fetch_source() {
  local versions version=$package_version
  versions=$(apt-cache "${apt_options[@]}" showsrc kubernetes 2>/dev/null | sed -n 's/^Version: //p' | sort -V)
  if ! grep -qxF "$version" <<<"$versions"; then
    # Debian replaces a version by its next security revision; the upstream tarball stays the same
    version=$(grep -F "${package_version%+deb*}" <<<"$versions" | tail -n 1) || fail "Debian has no source of Kubernetes $release any more"
    say "Debian now has $version"
  fi
  run apt-get "${apt_options[@]}" source --download-only "kubernetes=$version"
}

copy_sources
cd "$debs"
say "building ${missing[*]}: fetching packages"
# A broken source of another vendor must not stop us: what counts is whether the downloads below work.
attempt apt-get "${apt_options[@]}" update || say 'apt-get update complained; going on with what it got'
packages=("golang-$go-go" "golang-$go-src" golang-github-modern-go-reflect2-dev)
case " ${missing[*]} " in *' etcd '*) packages+=(etcd-server) ;; esac
run apt-get "${apt_options[@]}" download "${packages[@]}"
fetch_source

say 'unpacking'
for deb in ./*.deb; do run dpkg-deb -x "$deb" "$root"; done

# ---- the tree: pure upstream, in the GOPATH layout that 1.20 was built in

gopath=$scratch/go
tree=$gopath/src/k8s.io/kubernetes
unpack_tree() {
  mkdir -p "$tree"
  # none of what is left out takes part in a build
  run tar -xf ./*.orig.tar.* -C "$tree" --strip-components=1 \
    --exclude='*/CHANGELOG' --exclude='*/test/e2e*' --exclude='*/testdata' --exclude='*/api/openapi-spec' \
    --exclude='*/LICENSES' --exclude='*_test.go'
  # the vendored one reaches into the runtime in a way that Go 1.18 and later refuse
  local reflect2=vendor/github.com/modern-go/reflect2
  rm -rf "${tree:?}/$reflect2"
  cp -R "$root/usr/share/gocode/src/github.com/modern-go/reflect2" "$tree/$reflect2"
  mkdir -p "$tree/cmd/kubelet-validate"
  cp "$here/kubelet-validate/main.go" "$tree/cmd/kubelet-validate/"
}
unpack_tree
rm -rf "$debs" "$apt"
cd "$tree"

export GOROOT=$root/usr/lib/go-$go GOPATH=$gopath GOCACHE=$scratch/gocache GOTMPDIR=$scratch
export GO111MODULE=off CGO_ENABLED=0 GOFLAGS='' GOENV=off
PATH=$GOROOT/bin:$PATH

# Upstream generates this package in its makefiles; the API server does not link without it.
generate_openapi() {
  say 'generating the OpenAPI definitions'
  run go build -o "$scratch/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  local inputs
  # the trailing slash makes grep follow the links from vendor to staging
  inputs=$(grep -rl --include='*.go' '^// +k8s:openapi-gen=' vendor/k8s.io/*/ cmd pkg plugin |
    grep -vE '^vendor/k8s.io/(code-generator|sample-apiserver|kube-openapi|gengo)/' |
    xargs -n 1 dirname | sort -u | sed 's,^,k8s.io/kubernetes/,' | paste -sd,)
  run "$scratch/openapi-gen" --logtostderr -h /dev/null -r "$scratch/violations" -O zz_generated.openapi \
    -p k8s.io/kubernetes/pkg/generated/openapi -i "$inputs" --output-base "$gopath/src"
}

# --version has its facts from the first package, the API server's /version from the second; in GOPATH mode both are vendored ones.
ldflags='-s -w'
for p in k8s.io/kubernetes/vendor/k8s.io/{component-base,client-go/pkg}/version; do
  ldflags+=" -X $p.gitVersion=v$release -X $p.gitMajor=1 -X $p.gitMinor=20 -X $p.gitTreeState=clean -X $p.gitCommit=$commit"
done

build() {
  say "compiling $1"
  run go build -p "$(nproc)" -trimpath -tags providerless -ldflags "$ldflags" -o "$scratch/built" "./cmd/$1"
  mv "$scratch/built" "$out/$1"
}

# ---- what the parts need beside themselves, then the parts

protos=$scratch/protos
mkdir -p "$protos/github.com/gogo/protobuf/gogoproto" # an import path: it has to stay as it is
cp staging/src/k8s.io/cri-api/pkg/apis/runtime/v1alpha2/api.proto "$protos/"
cp vendor/github.com/gogo/protobuf/gogoproto/gogo.proto "$protos/github.com/gogo/protobuf/gogoproto/"
[ -d "$out/protos" ] || mv "$protos" "$out/protos"

for part in "${missing[@]}"; do
  case $part in
    etcd) cp "$root/usr/bin/etcd" "$scratch/built" && mv "$scratch/built" "$out/etcd" ;;
    kube-apiserver)
      generate_openapi
      build kube-apiserver
      ;;
    *) build "$part" ;;
  esac
done

say "built ${missing[*]} ($(du -sh "$out" | cut -f1) in $out)"
echo "$out"
