#!/bin/bash
# The step of action.yml: measures BASE and HEAD in turns, writes the table into the summary of the job, and ends with 1 if HEAD is slower.
set -u
# One word for charz, which splits the flags of a side as a shell does.
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }
code=0
charz ab --a "--command $(quoted "$BASE")" --b "--command $(quoted "$HEAD")" --value "$VALUE" --threads "$THREADS" \
  --budget "$BUDGET" --format markdown >> "$GITHUB_STEP_SUMMARY" || code=$?
case $code in
  0) ;;
  1)
    echo "::error title=charz::the head is slower (side B): see the table in the summary of the job"
    [ "$FAIL" = false ] || exit 1
    ;;
  5) echo "::warning title=charz::no verdict on a difference: see the summary of the job, or give it a larger budget" ;;
  *) exit "$code" ;;
esac
