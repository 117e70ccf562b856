#!/usr/bin/env bash
# What the action runs: `doctor -f` and `simulate`, with their tables in the summary of the job. The inputs are
# in the environment (INPUT_*), since what stands in a workflow must not become a part of a script.
# KUBECTL_TAINTMGR names another program than the one of npm, with its arguments.
set -uo pipefail

read -ra plugin <<<"${KUBECTL_TAINTMGR:-npx --yes @taintmgr/kubectl-taintmgr@${INPUT_VERSION:-latest}}"
summary=${GITHUB_STEP_SUMMARY:-/dev/stdout}
output=${GITHUB_OUTPUT:-/dev/null}
failed=0

# The lines of $1 that are not empty, each after the flag $2, in the array `flags`.
flags_of() {
  flags=()
  local line
  while IFS= read -r line; do
    line="${line#"${line%%[![:space:]]*}"}"
    line="${line%"${line##*[![:space:]]}"}"
    [ -n "$line" ] && flags+=("$2" "$line")
  done <<<"$1"
}

# A summary of more than 1 MiB is thrown away as a whole, so that a large change could hide what was found.
shown_max=150000

# Runs the plugin for the summary: a head, what it prints in a block, and on which exit codes it fails.
report() {
  local head=$1 text code stop shown last
  shift
  text=$("${plugin[@]}" "$@" --color=never 2>&1)
  code=$?
  # Names are the author's of a change: none ends the block, or is a command to the runner.
  stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  shown=${text:0:shown_max}
  [ "${#shown}" -lt "${#text}" ] && shown+=$'\n'"... cut after $shown_max characters; the log of the step has all"
  printf '## %s\n\n```\n%s\n```\n\n' "$head" "${shown//\`\`\`/\'\'\'}" >>"$summary"
  printf '::stop-commands::%s\n%s\n::%s::\n' "$stop" "$text" "$stop"
  [ "$code" -eq 0 ] && return
  failed=1
  # As the runner reads it: a percent sign begins an escape.
  last=${text##*$'\n'}
  echo "::error title=taintmgr::$head: ${last//%/%25}"
}

# Without files doctor would examine a cluster.
flags_of "${INPUT_MANIFESTS:-}" -f
if [ ${#flags[@]} -gt 0 ]; then
  sarif=${INPUT_SARIF:-taintmgr.sarif}
  # What cannot be read is said by the table; code scanning refuses a file that is none.
  if ! mkdir -p "$(dirname -- "$sarif")" 2>/dev/null || ! { : >"$sarif"; } 2>/dev/null; then
    failed=1
    echo "::error title=taintmgr::sarif: $sarif cannot be written"
  elif "${plugin[@]}" doctor "${flags[@]}" -R -o sarif >"$sarif" 2>/dev/null || [ -s "$sarif" ]; then
    echo "sarif=$sarif" >>"$output"
  else
    rm -f "$sarif"
  fi
  report 'Manifests' doctor "${flags[@]}" -R
elif [ -z "${INPUT_CLUSTER:-}" ]; then
  echo '::error::taintmgr: want manifests to check, or a cluster to simulate' >&2
  exit 1
fi

if [ -n "${INPUT_CLUSTER:-}" ]; then
  simulate=(simulate -f "$INPUT_CLUSTER" --until "${INPUT_UNTIL:-30m}")
  [ -n "${INPUT_SCRIPT:-}" ] && simulate+=(--script "$INPUT_SCRIPT")
  flags_of "${INPUT_POLICIES:-}" --policy
  simulate+=("${flags[@]}")
  flags_of "${INPUT_FAIL_IF:-}" --fail-if
  simulate+=("${flags[@]}")
  report 'Simulation' "${simulate[@]}"
fi

exit "$failed"
