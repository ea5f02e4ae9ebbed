#!/bin/bash
# Four nodes of Slurm on this machine, n1 to n4, in the folder $1: each has a host name and a lock of charz of its own, and all share
# the machine's CPUs. Needs root, and no systemd. Ends with the name of the configuration; `stop.sh` of the folder ends them.
set -eu
folder=$1
mkdir -p "$folder"/{state,log,spool/n1,spool/n2,spool/n3,spool/n4}
configuration=$folder/slurm.conf
cat > "$configuration" <<C
ClusterName=charz
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
SlurmctldPort=16817
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=20
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
KillWait=10
C
for node in 1 2 3 4; do
    echo "NodeName=n$node NodeHostname=n$node NodeAddr=127.0.0.1 Port=1700$node CPUs=$(nproc) State=UNKNOWN"
done >> "$configuration"
echo "PartitionName=all Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP" >> "$configuration"
cat > "$folder/stop.sh" <<C
for pid in $folder/slurmd.*.pid $folder/slurmctld.pid; do kill "\$(cat "\$pid")" 2>/dev/null; done
[ ! -e $folder/munged ] || pkill -x munged
true
C
if ! pgrep -x munged >/dev/null; then
    install -d -o munge -g munge /run/munge
    su -s /bin/sh munge -c /usr/sbin/munged
    : > "$folder/munged"
fi
export SLURM_CONF=$configuration
slurmctld -c -f "$configuration"
lock=charz.lock
[ -e /tmp/$lock ] || : > /tmp/$lock
for node in n1 n2 n3 n4; do
    own="mount -t tmpfs none /run/lock; : > /run/lock/$lock; mount --bind /run/lock/$lock /tmp/$lock"
    unshare --uts --mount sh -c "hostname $node; $own; exec slurmd -N $node -f $configuration"
done
for _ in $(seq 100); do
    if sinfo --noheader --format '%T %D' | grep -q 'idle 4'; then
        echo "$configuration"
        exit 0
    fi
    sleep 0.1
done
sinfo >&2
exit 1
