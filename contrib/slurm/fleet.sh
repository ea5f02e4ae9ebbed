#!/bin/bash
# One job per node: a busy or dead node delays its own report only. Arguments go to sbatch: fleet.sh --partition=all
set -eu
cd "$(dirname "$0")"
export CHARZ_REPORTS="${CHARZ_REPORTS:-$PWD/reports}"
mkdir -p "$CHARZ_REPORTS"
for node in $(sinfo --noheader --Node --format=%N "${@}" | sort -u); do
    sbatch --parsable --nodelist="$node" --output="$CHARZ_REPORTS/%N.log" "${@}" node.sh
done
