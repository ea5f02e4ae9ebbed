#!/bin/bash
# Measures the node that this job runs on, all of its CPUs: sbatch -N1 -w NODE node.sh
# A requeued job goes on where it was stopped, and a second job of the same node adds nothing to a complete report.
# charz is started without srun, which may hand a task one CPU of the node only.
#SBATCH --nodes=1 --exclusive --time=00:10:00 --signal=B:USR1@60
exec charz sweep --preset node --wait --quiet --continue --output "${REPORTS:-reports}/{node}.json.gz"
