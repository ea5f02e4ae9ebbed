#!/bin/bash
# The guide for many nodes, its scripts and its lines, on the cluster of $SLURM_CONF: $1 is the root of the project. charz is in the path.
set -eu
root=$1
export REPORTS=$PWD/reports

say() { echo "slurm: $*"; }
fail() { say "FAILED: $*"; exit 1; }
ended() { until [ -z "$(squeue --noheader)" ]; do sleep 0.5; done; }
# What is known of a node in the fleet of the folder $1, by the Python expression $3 of `node`.
node() { charz fleet show "$1" --format json > fleet.json; python3 -c "
import json
fleet = {node['host']: node for node in json.load(open('fleet.json'))['nodes']}
node = fleet.get('$2')
print($3)"; }
is_complete() { python3 -c "import gzip, json; print(json.load(gzip.open('$1'))['complete'])"; }
# One after the other: the nodes share their CPUs.
turns=(--job-name=charz --dependency=singleton)
job() { sbatch --parsable "${turns[@]}" --nodes=1 --exclusive --output=jobs.log --open-mode=append "$@"; }

say "a job per node, by contrib/slurm/fleet.sh"
"$root/contrib/slurm/fleet.sh" --partition=all "${turns[@]}" >/dev/null
ended
for name in n1 n2 n3 n4; do
    [ -s "reports/$name.json.gz" ] || { cat "reports/$name.log"; fail "no report of $name"; }
done
[ "$(node reports n1 "sorted(fleet)")" = "['n1', 'n2', 'n3', 'n4']" ] || fail "not four nodes"
[ "$(node reports n1 "[n['host'] for n in fleet.values() if n['state'] == 'slow']")" = "[]" ] || fail "a node of one machine is slow"

say "the guide's lines on the reports"
sed -n '/^```sh/,/^```/p' "$root/docs/guides/many-nodes.md" | sed -n '/^charz fleet/p' > lines.sh
[ "$(wc -l < lines.sh)" -ge 4 ] || fail "the guide has no lines"
# A check may find something, as this machine is shared.
sed -i '/fleet check/s/  *#.*//; /fleet check/s/$/ || [ $? -le 2 ]/' lines.sh
sh -e lines.sh
[ -s fleet.html ] && [ -s site.toml ] || fail "a line wrote nothing"

say "a second job of a node adds nothing, and one that was stopped is continued"
# Where other programs took the time, it goes on, and is complete at last.
for _ in 1 2 3; do
    complete=$(is_complete reports/n1.json.gz) before=$(cksum reports/n1.json.gz)
    job --nodelist=n1 "$root/contrib/slurm/node.sh" >/dev/null
    ended
    [ "$complete" = False ] || break
done
[ "$before" = "$(cksum reports/n1.json.gz)" ] || [ "$complete" = False ] || fail "a complete report was changed"
mkdir -p stopped
stopped=$(REPORTS=$PWD/stopped job --nodelist=n1 "$root/contrib/slurm/node.sh")
until [ -s stopped/n1.json.gz.journal ]; do sleep 0.2; done
sleep 5
scancel --signal=USR1 --batch "$stopped"
ended
[ "$(is_complete stopped/n1.json.gz)" = False ] || fail "USR1 did not stop it"
runs() { python3 -c "import gzip, json; print(sum(len(cell['invocations']) for cell in json.load(gzip.open('$1'))['cells']))"; }
before=$(runs stopped/n1.json.gz)
scontrol requeue "$stopped"
ended
[ "$(runs stopped/n1.json.gz)" -gt "$before" ] || fail "the requeued job did not go on"

say "srun with one CPU of the node says so"
srun --nodelist=n1 --exclusive --ntasks-per-node=1 charz sweep --quick --quiet --output one.json 2> said || fail "srun: $(cat said)"
if [ "$(nproc)" -gt 1 ]; then
    grep -q "CPU" said || fail "it said nothing of the CPUs that it did not get: $(cat said)"
    mkdir -p one && mv one.json one/
    [ "$(node one n1 "node['state']")" = unclear ] || fail "a node of which one CPU was measured is not unclear"
fi

# A fault on n2, made by the script $2 before the job's; its report beside those of the others.
fault() {
    mkdir "$1"
    cp reports/n[134].json.gz "$1"
    { echo '#!/bin/bash'; echo "$2"; echo "REPORTS=$PWD/$1 . '$root/contrib/slurm/node.sh'"; } > "$1.sh"
    job --nodelist=n2 "$1.sh" >/dev/null
    ended
    pkill -f charz-disturbs || true
    say "$1: $(node "$1" n2 "node['state'], *node['why'], *(f'{name} {differs[\"here\"]}' for name, differs in node['differs'].items())")"
    [ "$(node "$1" n2 "[n['host'] for n in fleet.values() if n['host'] != 'n2' and n['state'] == 'slow']")" = "[]" ] || fail "an innocent node"
    [ "$(node "$1" n2 "any('$3' in why for why in node['why'])")" = True ] || fail "$1: the cause is not named"
}
cp /bin/sh charz-disturbs
# Not a child of the job's shell, which becomes charz: what that started is its own.
fault hog "(taskset -c 1 $PWD/charz-disturbs -c 'while :; do :; done' &)" "charz-disturbs"
group=/sys/fs/cgroup/cpu/charz-slurm
if mkdir -p "$group" 2>/dev/null && [ -w "$group/cpu.cfs_quota_us" ]; then
    echo $((60000 * $(nproc))) > "$group/cpu.cfs_quota_us"
    fault quota "echo \$\$ > $group/cgroup.procs" "quota"
    rmdir "$group"
else
    say "not run: a quota (no control group of version 1 for CPUs can be made here)"
fi

say "a dead node costs its own report only"
kill "$(cat "$(dirname "$SLURM_CONF")/slurmd.n4.pid")"
mkdir dead
for name in n4 n1; do REPORTS=$PWD/dead sbatch --parsable --nodes=1 --nodelist=$name --output=jobs.log --open-mode=append \
    --wrap "charz sweep --quick --wait --quiet --continue --output dead/{node}.json.gz"; done >/dev/null
until [ -s dead/n1.json.gz ]; do sleep 0.5; done
scancel --user=root
[ ! -e dead/n4.json.gz ] || fail "n4 is dead"

if command -v reframe >/dev/null; then
    say "ReFrame, by contrib/reframe/charz_check.py"
    slow=true
    if mkdir -p "$group" 2>/dev/null && [ -w "$group/cpu.cfs_quota_us" ]; then
        echo $((60000 * $(nproc))) > "$group/cpu.cfs_quota_us"
        slow="echo \$\$ > $group/cgroup.procs"
    fi
    cat > site.py <<P
site_configuration = {'systems': [{'name': 'charz', 'hostnames': ['.*'], 'partitions': [{
    'name': 'all', 'scheduler': 'squeue', 'launcher': 'local', 'access': ['--exclusive', '--dependency=singleton'], 'max_jobs': 1,
    'environs': ['builtin'], 'prepare_cmds': ['[ "\$SLURMD_NODENAME" != n2 ] || $slow']}]}], 'environments': [{'name': 'builtin'}]}
P
    CHARZ_BASELINE=$PWD/site.toml reframe -C site.py -c "$root/contrib/reframe/charz_check.py" -r --distribute=idle --performance-report > reframe.log 2>&1 || true
    grep -q "Ran [1-9][0-9]*/" reframe.log || { cat reframe.log; fail "ReFrame ran no check"; }
    grep -E "Ran |CHARZ|PASSED|FAILED" reframe.log | head -12
    if [ "$slow" != true ]; then
        rmdir "$group"
        grep -q "Reason: .*CHARZ [A-Z]* - n2: .*quota" reframe.log || { cat reframe.log; fail "ReFrame does not name the node with a quota"; }
        ! grep -E "Reason: .*CHARZ (WARNING|CRITICAL)" reframe.log | grep -v " n2: " || fail "ReFrame names an innocent node"
    fi
else
    say "not run: ReFrame (reframe is not installed)"
fi
say "all passed"
