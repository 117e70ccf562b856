#!/bin/bash
# Builds the server into the directory that is named, from the packages of Debian unstable, which are
# downloaded and unpacked there: 320 packages of 0.3 GB, 2.4 GB when unpacked, some six minutes on two
# cores. Nothing is installed. bash tools/workbench/machinery/build.sh DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?name a directory}"
cd "$1"
mirror=http://deb.debian.org/debian
mkdir -p debs root
curl -sSL "$mirror/dists/sid/main/binary-amd64/Packages.xz" | xz -dc > packages
node "$here/dependencies.mjs" packages golang-k8s-apiserver-dev golang-k8s-apiextensions-apiserver-dev \
  golang-1.26-go golang-1.26-src etcd-server kubectl > list
sed "s#^#$mirror/#" list | (cd debs && xargs -P6 -n8 curl -sS --fail --retry 3 --remote-name-all)
while read -r each; do dpkg-deb -x "debs/${each##*/}" root; done < list

directory=$PWD
export GOROOT=$directory/root/usr/lib/go-1.26 GOPATH=$directory/root/usr/share/gocode
export GOCACHE=$directory/cache GO111MODULE=off CGO_ENABLED=0 PATH=$GOROOT/bin:$PATH
# Server-side apply goes by these definitions of all kinds.
cd "$GOPATH/src/k8s.io"
go build -o "$directory/openapi-gen" ./kube-openapi/cmd/openapi-gen
documented=$(grep -rl --include=*.go '+k8s:openapi-gen=true' api apimachinery | grep -v _test.go |
  xargs -n1 dirname | sort -u | sed s#^#k8s.io/#)
mkdir -p "$GOPATH/src/machinery/openapi"
cp "$here"/*.go "$GOPATH/src/machinery"
cd "$GOPATH/src/machinery"
# shellcheck disable=SC2086 # one word for each package
"$directory/openapi-gen" --go-header-file /dev/null --report-filename "$directory/violations" \
  --output-dir openapi --output-pkg machinery/openapi --output-file all.go \
  $documented k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version

release=$(sed -n 's#.*/kubectl_\([0-9.]*\).*#\1#p' "$directory/list")
version=k8s.io/component-base/version
go build -o "$directory/kube-apiserver" -ldflags "-X $version.gitVersion=v$release \
  -X $version.gitMajor=1 -X $version.gitMinor=$(cut -d. -f2 <<< "$release")" .
ln -sf root/usr/bin/etcd root/usr/bin/kubectl "$directory"
echo "built $directory/kube-apiserver of Kubernetes $release, beside etcd and kubectl"
