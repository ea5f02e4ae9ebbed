#!/bin/bash
# Measures the node that this job runs on, all of its CPUs: sbatch -N1 -w NODE node.sh [FOLDER]
# A requeued job goes on where it was stopped, and a second job of the same node adds nothing to a complete report.
# charz is started without srun, which may hand a task one CPU of the node only.
#SBATCH --nodes=1 --exclusive --mem=0 --time=00:10:00 --signal=B:USR1@60
exec charz sweep --preset node --wait --quiet --continue --output "${1:-${REPORTS:-reports}}/{node}.json.gz"
