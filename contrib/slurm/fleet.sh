#!/bin/bash
# One job per node: a busy or dead node delays its own report only. Arguments go to sbatch: fleet.sh --partition=all
set -eu
cd "$(dirname "$0")"
export REPORTS="${REPORTS:-$PWD/reports}"
mkdir -p "$REPORTS"
partition=()
for word; do
    case $word in --partition=*) partition=("$word") ;; esac
done
for node in $(sinfo --noheader --Node --format=%N ${partition[@]+"${partition[@]}"} | sort -u); do
    sbatch --parsable --nodelist="$node" --output="$REPORTS/%N.log" "${@}" node.sh
done
