#!/bin/sh
# Proposes a manifest to krew's index: a branch in the fork of whoever is logged in, and a pull request.
#   sh scripts/release/krew-pull-request.sh MANIFEST VERSION
set -eu
manifest=$(realpath "$1")
version=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
gh repo fork kubernetes-sigs/krew-index --clone --default-branch-only
cd krew-index
git switch --create "taintmgr-v$version"
cp "$manifest" plugins/taintmgr.yaml
git add plugins/taintmgr.yaml
git commit --message "taintmgr v$version"
git push --set-upstream origin "taintmgr-v$version"
gh pr create --repo kubernetes-sigs/krew-index --title "taintmgr v$version" --body "Version v$version of taintmgr."
