#!/bin/bash
# One job per node: a busy or dead node delays its own report only. Arguments go to sbatch: fleet.sh --partition=all
set -eu
cd "$(dirname "$0")"
export REPORTS="${REPORTS:-$PWD/reports}"
mkdir -p "$REPORTS"
partition=() before=''
for word; do
    case $before in -p | --partition) partition=("--partition=$word") ;; esac
    case $word in --partition=*) partition=("$word") ;; -p?*) partition=("--partition=${word#-p}") ;; esac
    before=$word
done
refused=0
for node in $(sinfo --noheader --Node --format=%N ${partition[@]+"${partition[@]}"} | sort -u); do
    sbatch --parsable --nodelist="$node" --output="$REPORTS/%N.log" "${@}" node.sh || { echo "no job for $node" >&2; refused=1; }
done
exit $refused
