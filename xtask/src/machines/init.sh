#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp LC_ALL=C.UTF-8
echo "@@up"
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mkdir /run/lock
mount -t cgroup2 cgroup /sys/fs/cgroup
hostname machine
for cpu in /sys/devices/system/cpu/cpu*/online; do echo 1 > $cpu; done
cd /tmp

packed() { if [ -s $1 ]; then gzip -c $1 | base64 -w 0; else echo -n -; fi; }
now() { cut -d ' ' -f 1 /proc/uptime; }
# Runs a command, and prints what it printed as a frame that another program reads.
step() {
    name=$1
    shift
    echo "@@step $name"
    start=$(now)
    "$@" > /tmp/out.$name 2> /tmp/err.$name < /dev/null
    code=$?
    seconds=$(echo "$(now) $start" | awk '{ print $1 - $2 }')
    echo "@@done $name $code $seconds $(packed /tmp/out.$name) $(packed /tmp/err.$name)"
}
# Runs a command in a control group.
within() {
    group=$1
    shift
    sh -c 'echo $$ > /sys/fs/cgroup/$0/cgroup.procs && exec "$@"' $group "$@"
}

. /script
echo "@@end"
poweroff -f
