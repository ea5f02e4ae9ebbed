#!/bin/bash
# One job per node: a busy or dead node delays its own report only. Arguments go to sbatch: fleet.sh --partition=all
set -eu
mkdir -p "${REPORTS:=reports}"
REPORTS=$(cd "$REPORTS" && pwd)
cd "$(dirname "$0")"
partition=() before=''
for word; do
    case $before in -p | --partition) partition=("--partition=$word") ;; esac
    case $word in --partition=*) partition=("$word") ;; -p?*) partition=("--partition=${word#-p}") ;; esac
    before=$word
done
nodes=$(sinfo --noheader --Node --format=%N ${partition[@]+"${partition[@]}"})
[[ -n $nodes ]] || { echo "sinfo names no node${partition[*]+ of ${partition[*]}}" >&2; exit 1; }
refused=0
for node in $(sort -u <<<"$nodes"); do
    sbatch --parsable --nodelist="$node" --output="$REPORTS/%N.log" "${@}" node.sh "$REPORTS" || { echo "no job for $node" >&2; refused=1; }
done
exit $refused
