"""Qualifies each node with charz, as a check of ReFrame (https://reframe-hpc.readthedocs.io).

    charz fleet baseline reports/ --output site.toml
    CHARZ_BASELINE=$PWD/site.toml reframe -c charz_check.py -r --distribute=all --performance-report

A node passes if `charz fleet check` says OK. Each quantity of the check is a performance variable, with the limits of the baseline as its
reference; one job measures all of them.
"""

import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher

DATUM = re.compile(r"'([^']+)'=([0-9.e+-]+);([0-9.e+-]+)(:?);")


@rfm.simple_test
class CharzCheck(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'charz'
    exclusive_access = True
    time_limit = '10m'

    @run_before('run')
    def set_command(self):
        # Nagios' exit codes: the line says the rest.
        self.executable_opts = ['fleet', 'check', '--baseline', os.environ['CHARZ_BASELINE']]
        # srun and its like would hand the one task one CPU of the node.
        self.job.launcher = getlauncher('local')()

    @sanity_function
    def is_ok(self):
        # The line names the node and what is slow; what follows it are numbers.
        said = sn.extractsingle(r'^CHARZ [^|\n]*', self.stdout)
        return sn.assert_found(r'^CHARZ OK - ', self.stdout, msg=said)

    @run_before('performance')
    def set_quantities(self):
        with open(os.path.join(self.stagedir, self.stdout.evaluate())) as out:
            # A colon in a name is ReFrame's own, between a partition and the rest.
            found = [(name.replace(':', '_'), *limits) for name, *limits in DATUM.findall(out.read())]
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(float(value)), 'SI') for name, value, _, _ in found
        }
        here = self.current_partition.fullname
        # A rate has its limit below ("3e9:"), a time above ("80").
        self.reference = {
            here: {name: (float(limit), *((0, None) if below else (None, 0)), 'SI') for name, _, limit, below in found}
        }
