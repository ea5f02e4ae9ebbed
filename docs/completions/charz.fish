# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_charz_global_optspecs
    string join \n h/help V/version
end

function __fish_charz_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_charz_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_charz_using_subcommand
    set -l cmd (__fish_charz_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c charz -n "__fish_charz_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_needs_command" -s V -l version -d 'Print version'
complete -c charz -n "__fish_charz_needs_command" -f -a "topo" -d 'Show where the strands of a machine are, or what was measured of it'
complete -c charz -n "__fish_charz_needs_command" -f -a "map" -d 'Show where a mapping puts workers'
complete -c charz -n "__fish_charz_needs_command" -f -a "kernels" -d 'List the kernels: what each counts, and whether it can run here'
complete -c charz -n "__fish_charz_needs_command" -f -a "sweep" -d 'Measure kernels under mappings with growing numbers of workers'
complete -c charz -n "__fish_charz_needs_command" -f -a "c2c" -d 'Measure how long a line of memory takes from each core to each other'
complete -c charz -n "__fish_charz_needs_command" -f -a "numa" -d 'Measure what memory takes from each NUMA node to each'
complete -c charz -n "__fish_charz_needs_command" -f -a "ab" -d 'Compare two configurations, or two builds of charz, interleaved on this machine'
complete -c charz -n "__fish_charz_needs_command" -f -a "selftest" -d 'Compare this machine with itself, and learn its noise floor'
complete -c charz -n "__fish_charz_needs_command" -f -a "replicate" -d 'Run what a source document ran, and show each of its figures beside its own values'
complete -c charz -n "__fish_charz_needs_command" -f -a "render" -d 'Show a report again'
complete -c charz -n "__fish_charz_needs_command" -f -a "compare" -d 'Compare two reports: faster, slower, the same, or inconclusive, for every cell'
complete -c charz -n "__fish_charz_needs_command" -f -a "history" -d 'Keep reports of one machine, and see when it changed'
complete -c charz -n "__fish_charz_needs_command" -f -a "doctor" -d 'Look for what will disturb or limit measurements on this machine'
complete -c charz -n "__fish_charz_needs_command" -f -a "explain" -d 'Explain a check that a number is marked by: cause, limits, evidence, and what to do'
complete -c charz -n "__fish_charz_needs_command" -f -a "docs" -d 'Print generated documentation: shell completions, man pages, the schemas of reports and comparisons, tables of kernels, mappers and checks'
complete -c charz -n "__fish_charz_needs_command" -f -a "measure" -d 'Measures one order from standard input: the other half of a sweep, which starts it'
complete -c charz -n "__fish_charz_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c charz -n "__fish_charz_using_subcommand topo" -l topology -d 'Which machine: this one, a file of hwloc XML, or a synthetic description' -r
complete -c charz -n "__fish_charz_using_subcommand topo" -l measured -d 'Show what was measured beside what is claimed: by this report, or measure now' -r -F
complete -c charz -n "__fish_charz_using_subcommand topo" -l budget -d 'The longest that measuring may take, with a unit, e.g. 90s, 10m' -r
complete -c charz -n "__fish_charz_using_subcommand topo" -l output -d 'The file of the new report [default: charz-<date>-<time>.json in this folder]' -r -F
complete -c charz -n "__fish_charz_using_subcommand topo" -l format -d 'How: tree, boxes, table, psrinfo, json, xml, svg, png [default: boxes on a terminal with room for them, else tree]; with --measured: table, json, xml [default: table]' -r
complete -c charz -n "__fish_charz_using_subcommand topo" -l force -d 'Replace an existing output file'
complete -c charz -n "__fish_charz_using_subcommand topo" -l wait -d 'Wait for another charz that is measuring on this machine, instead of refusing'
complete -c charz -n "__fish_charz_using_subcommand topo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand map" -l mapping -d 'The mapping; --help lists them' -r
complete -c charz -n "__fish_charz_using_subcommand map" -l threads -d 'How many workers' -r
complete -c charz -n "__fish_charz_using_subcommand map" -l topology -d 'Which machine: this one, a file of hwloc XML, or a synthetic description' -r
complete -c charz -n "__fish_charz_using_subcommand map" -l format -d 'How: table, json, taskset, omp-places, gomp, likwid, srun, cpuset' -r
complete -c charz -n "__fish_charz_using_subcommand map" -l allow-stack -d 'Let a list: name a strand more than once, so that workers share it on purpose'
complete -c charz -n "__fish_charz_using_subcommand map" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand kernels" -l format -d 'How: table, json' -r
complete -c charz -n "__fish_charz_using_subcommand kernels" -s h -l help -d 'Print help'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l kernel -d 'Kernels, separated by commas, by name or by how names begin, e.g. arith-int or ring-*; charz kernels lists them' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l family -d 'All kernels of families (compute, memory, sync, timer, floor), separated by commas' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l threads -d 'Numbers of workers: auto, or a list of numbers and ranges such as 1,2,4-8,16-64:16' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l iterations -d 'Steps of the loop per worker and repetition in compute kernels: auto, or a number' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l samples -d 'Pairs of times that a repetition takes in sync kernels that stamp each of them: auto, or a number' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l span -d 'How long a repetition lasts in sync kernels that do what they can in a given time: auto, or e.g. 20ms' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l repetitions -d 'Repetitions in each invocation: auto, or a number; all are kept' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l seed -d 'Draw the order of the cells from this number [default: another one each time]' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l oversubscribe -d 'Let up to K times as many workers as strands contend in sync kernels' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l clock -d 'What stamps: os (CLOCK_MONOTONIC), tsc (time-stamp counter), or auto, which takes tsc where it can serve as a clock' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l binder -d 'What binds workers to seats: hwloc, or core-affinity (strands below 1024 only)' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l mapping -d 'Mappings, separated by commas; --help lists them' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l size -d 'Sizes of a worker\'s private block in memory kernels: auto, levels, curve, or multiples of 64 bytes such as 32KiB,256MiB' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l pages -d 'Pages of the blocks: auto, or a list of 4k, thp (transparent huge pages), 2m and 1g (reserved); the report says what was obtained' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l stride -d 'Bytes from one place of a block that a load may read to the next, in kernels that chase: auto, or multiples of 64' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l chains -d 'Chains of loads that a worker follows at once, in kernels that chase several: auto, or numbers from 1 to 16' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l delay -d 'Steps of about a nanosecond between two portions of load, in kernels that load the memory: auto, or numbers' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l memory -d 'Where the blocks are put: auto, or a list of local, first, remote, interleaved and node:N; the report says where they were' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l layout -d 'How the inputs of arithmetic kernels lie in memory: padded, or contiguous as in the T3-4 report' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l critical -d 'Steps of about a nanosecond that a worker makes while it holds a lock or an item, in pool and counter kernels' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l parallel -d 'Such steps that it makes before it comes again' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l period -d 'When samples of waking and creating begin: fitting, closed, or a time such as 50us from one to the next' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l timeout -d 'What waits of timer kernels are told to last, up to 100ms' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l invocations -d 'Invocations of each cell: the fewest and the most, or one number for both' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l precision -d 'The half width of the 95% interval that is wanted, in percent of the number: auto, or e.g. 2%' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l budget -d 'The longest that the sweep may take, with a unit, e.g. 90s, 10m; cells that do not fit stay pending' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l config -d 'A TOML file with values for flags that are not typed: long names for keys, such as size = "1GiB"' -r -F
complete -c charz -n "__fish_charz_using_subcommand sweep" -l output -d 'The report\'s file [default: charz-<date>-<time>.json in this folder]' -r -F
complete -c charz -n "__fish_charz_using_subcommand sweep" -l resume -d 'Finish an interrupted report, with its own plan' -r -F
complete -c charz -n "__fish_charz_using_subcommand sweep" -l accept-panic -d 'Run such cells also where the kernel is set to panic on a lockup (softlockup_panic, hung_task_panic)'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l wait -d 'Wait for another charz that is measuring on this machine, instead of refusing'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l allow-stack -d 'Let a list: name a strand more than once, so that workers share it on purpose'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l strict -d 'End with code 5 unless every cell is ok'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l force -d 'Replace an existing output file'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l dry-run -d 'Print every cell, its memory and its predicted time; measure nothing but a few milliseconds of pilot runs'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l quick -d 'A coarse look in about 20 seconds: 1 worker and one a strand, 128 MiB blocks'
complete -c charz -n "__fish_charz_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand c2c" -l mode -d 'How the line is handed over: read-write, cas, fetch-add, exchange; several separated by commas' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l strands -d 'Only pairs of these strands, e.g. 0-3,8 [default: all that are usable]' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l invocations -d 'Invocations of each pair: the fewest and the most, or one number for both' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l precision -d 'The half width of the 95% interval that is wanted, in percent of the number; auto is 5% for lines between cores, and 2% for memory' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l budget -d 'The longest that it may take, with a unit, e.g. 90s, 10m' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l seed -d 'Draw the order, and pairs that do not all fit, from this number [default: another one each time]' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l output -d 'The report\'s file [default: charz-<date>-<time>.json in this folder]' -r -F
complete -c charz -n "__fish_charz_using_subcommand c2c" -l clock -d 'What stamps: os, tsc, or auto, as for charz sweep' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l binder -d 'What binds workers to seats: hwloc, or core-affinity' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l format -d 'How: heat, csv, json' -r
complete -c charz -n "__fish_charz_using_subcommand c2c" -l all-pairs -d 'Plan every pair, however many there are; the budget still ends it'
complete -c charz -n "__fish_charz_using_subcommand c2c" -l force -d 'Replace an existing output file'
complete -c charz -n "__fish_charz_using_subcommand c2c" -l dry-run -d 'Print the plan and the predicted time; measure nothing but a few milliseconds of pilot runs'
complete -c charz -n "__fish_charz_using_subcommand c2c" -l wait -d 'Wait for another charz that is measuring on this machine, instead of refusing'
complete -c charz -n "__fish_charz_using_subcommand c2c" -l strict -d 'End with code 5 unless every pair is ok'
complete -c charz -n "__fish_charz_using_subcommand c2c" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand numa" -l size -d 'Size of a worker\'s block, past all caches' -r
complete -c charz -n "__fish_charz_using_subcommand numa" -l pages -d 'Pages of the blocks: 4k, thp (transparent huge pages), 2m or 1g (reserved)' -r
complete -c charz -n "__fish_charz_using_subcommand numa" -l invocations -d 'Invocations of each pair: the fewest and the most, or one number for both' -r
complete -c charz -n "__fish_charz_using_subcommand numa" -l precision -d 'The half width of the 95% interval that is wanted, in percent of the number; auto is 5% for lines between cores, and 2% for memory' -r
complete -c charz -n "__fish_charz_using_subcommand numa" -l budget -d 'The longest that it may take, with a unit, e.g. 90s, 10m' -r
complete -c charz -n "__fish_charz_using_subcommand numa" -l seed -d 'Draw the order, and pairs that do not all fit, from this number [default: another one each time]' -r
complete -c charz -n "__fish_charz_using_subcommand numa" -l output -d 'The report\'s file [default: charz-<date>-<time>.json in this folder]' -r -F
complete -c charz -n "__fish_charz_using_subcommand numa" -l format -d 'How: heat, csv, json' -r
complete -c charz -n "__fish_charz_using_subcommand numa" -l force -d 'Replace an existing output file'
complete -c charz -n "__fish_charz_using_subcommand numa" -l dry-run -d 'Print the plan and the predicted time; measure nothing but a few milliseconds of pilot runs'
complete -c charz -n "__fish_charz_using_subcommand numa" -l wait -d 'Wait for another charz that is measuring on this machine, instead of refusing'
complete -c charz -n "__fish_charz_using_subcommand numa" -l strict -d 'End with code 5 unless every pair is ok'
complete -c charz -n "__fish_charz_using_subcommand numa" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand ab" -l a -d 'Flags of side A: --mapping, --size, --pages, --layout, --allow-stack' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l b -d 'Flags of side B' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l a-program -d 'The build of charz that measures side A [default: this one]' -r -F
complete -c charz -n "__fish_charz_using_subcommand ab" -l b-program -d 'The build of charz that measures side B [default: this one]' -r -F
complete -c charz -n "__fish_charz_using_subcommand ab" -l kernel -d 'Kernels, separated by commas, by name or by how names begin, e.g. arith-int or ring-*; charz kernels lists them' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l family -d 'All kernels of families (compute, memory, sync, timer, floor), separated by commas' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l threads -d 'Numbers of workers: auto, or a list of numbers and ranges such as 1,2,4-8,16-64:16' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l iterations -d 'Steps of the loop per worker and repetition in compute kernels: auto, or a number' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l samples -d 'Pairs of times that a repetition takes in sync kernels that stamp each of them: auto, or a number' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l span -d 'How long a repetition lasts in sync kernels that do what they can in a given time: auto, or e.g. 20ms' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l repetitions -d 'Repetitions in each invocation: auto, or a number; all are kept' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l seed -d 'Draw the order of the cells from this number [default: another one each time]' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l oversubscribe -d 'Let up to K times as many workers as strands contend in sync kernels' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l clock -d 'What stamps: os (CLOCK_MONOTONIC), tsc (time-stamp counter), or auto, which takes tsc where it can serve as a clock' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l binder -d 'What binds workers to seats: hwloc, or core-affinity (strands below 1024 only)' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l mapping -d 'Mappings, separated by commas; --help lists them' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l size -d 'Sizes of a worker\'s private block in memory kernels: auto, levels, curve, or multiples of 64 bytes such as 32KiB,256MiB' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l pages -d 'Pages of the blocks: auto, or a list of 4k, thp (transparent huge pages), 2m and 1g (reserved); the report says what was obtained' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l stride -d 'Bytes from one place of a block that a load may read to the next, in kernels that chase: auto, or multiples of 64' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l chains -d 'Chains of loads that a worker follows at once, in kernels that chase several: auto, or numbers from 1 to 16' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l delay -d 'Steps of about a nanosecond between two portions of load, in kernels that load the memory: auto, or numbers' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l memory -d 'Where the blocks are put: auto, or a list of local, first, remote, interleaved and node:N; the report says where they were' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l layout -d 'How the inputs of arithmetic kernels lie in memory: padded, or contiguous as in the T3-4 report' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l critical -d 'Steps of about a nanosecond that a worker makes while it holds a lock or an item, in pool and counter kernels' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l parallel -d 'Such steps that it makes before it comes again' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l period -d 'When samples of waking and creating begin: fitting, closed, or a time such as 50us from one to the next' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l timeout -d 'What waits of timer kernels are told to last, up to 100ms' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l invocations -d 'Invocations of each side of a pair; below five there is no verdict' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l budget -d 'The longest that it may take, with a unit, e.g. 90s, 10m' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l output -d 'Keep the two reports as NAME.a.json and NAME.b.json [default: keep nothing]' -r -F
complete -c charz -n "__fish_charz_using_subcommand ab" -l noise -d 'The file of noise floors [default: charz/noise.json in $XDG_STATE_HOME or ~/.local/state]' -r -F
complete -c charz -n "__fish_charz_using_subcommand ab" -l format -d 'How: table, json, markdown' -r
complete -c charz -n "__fish_charz_using_subcommand ab" -l accept-panic -d 'Run such cells also where the kernel is set to panic on a lockup (softlockup_panic, hung_task_panic)'
complete -c charz -n "__fish_charz_using_subcommand ab" -l wait -d 'Wait for another charz that is measuring on this machine, instead of refusing'
complete -c charz -n "__fish_charz_using_subcommand ab" -l allow-stack -d 'Let a list: name a strand more than once, so that workers share it on purpose'
complete -c charz -n "__fish_charz_using_subcommand ab" -l force -d 'Replace existing output files'
complete -c charz -n "__fish_charz_using_subcommand ab" -l allow-suspect -d 'Compare suspect cells too; their rows are marked'
complete -c charz -n "__fish_charz_using_subcommand ab" -l strict -d 'Exit with code 5 unless every pair has a verdict'
complete -c charz -n "__fish_charz_using_subcommand ab" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand selftest" -l rounds -d 'How many comparisons of equal sides; the noise floor needs 20' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l planted -d 'The slowdown to inject, in percent, in as many further comparisons' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l kernel -d 'Kernels, separated by commas, by name or by how names begin, e.g. arith-int or ring-*; charz kernels lists them' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l threads -d 'How many workers, on seats by round-robin' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l size -d 'Size of a worker\'s private block in memory kernels, a multiple of 64 bytes' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l invocations -d 'Invocations of each side of a comparison' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l budget -d 'The longest that it may take, with a unit' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l seed -d 'Draw all orders from this number [default: another one each time]' -r
complete -c charz -n "__fish_charz_using_subcommand selftest" -l noise -d 'The file of noise floors [default: charz/noise.json in $XDG_STATE_HOME or ~/.local/state]' -r -F
complete -c charz -n "__fish_charz_using_subcommand selftest" -l aa -d 'Measure equal sides against each other'
complete -c charz -n "__fish_charz_using_subcommand selftest" -l wait -d 'Wait for another charz that is measuring on this machine, instead of refusing'
complete -c charz -n "__fish_charz_using_subcommand selftest" -l allow-suspect -d 'Compare suspect cells too'
complete -c charz -n "__fish_charz_using_subcommand selftest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand replicate" -l from -d 'Draw the page from this report instead of measuring' -r -F
complete -c charz -n "__fish_charz_using_subcommand replicate" -l only -d 'Only these figures, by their numbers: 5, figure-5, table-2, separated by commas' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l iterations -d 'Steps of the loop per worker and repetition in compute kernels: auto, or a number' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l samples -d 'Pairs of times that a repetition takes where each is stamped: auto, or a number' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l span -d 'How long a repetition lasts that does what it can in a given time: auto, or e.g. 20ms' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l invocations -d 'Invocations of each cell: the fewest and the most, or one number for both' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l precision -d 'The half width of the 95% interval that is wanted, in percent of the number; auto is as for charz sweep' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l budget -d 'The longest that it may take, with a unit, e.g. 90s, 10m; auto is a few minutes, by the document' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l seed -d 'Draw the order of the cells from this number [default: another one each time]' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l oversubscribe -d 'Let up to K times as many workers as strands contend' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l output -d 'The report\'s file [default: charz-<date>-<time>.json in this folder]' -r -F
complete -c charz -n "__fish_charz_using_subcommand replicate" -l clock -d 'What stamps: os, tsc, or auto, as for charz sweep' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l binder -d 'What binds workers to seats: hwloc, or core-affinity' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l format -d 'How: table, json, markdown, csv' -r
complete -c charz -n "__fish_charz_using_subcommand replicate" -l list -d 'Only list the documents, or the figures of one and what could be measured here'
complete -c charz -n "__fish_charz_using_subcommand replicate" -l accept-panic -d 'Run such cells also where the kernel is set to panic on a lockup'
complete -c charz -n "__fish_charz_using_subcommand replicate" -l force -d 'Replace an existing output file'
complete -c charz -n "__fish_charz_using_subcommand replicate" -l dry-run -d 'Print every cell, its memory and its predicted time; measure nothing but a few milliseconds of pilot runs'
complete -c charz -n "__fish_charz_using_subcommand replicate" -l wait -d 'Wait for another charz that is measuring on this machine, instead of refusing'
complete -c charz -n "__fish_charz_using_subcommand replicate" -l strict -d 'End with code 5 unless every cell is ok'
complete -c charz -n "__fish_charz_using_subcommand replicate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand render" -l format -d 'How: table, json, csv, joint, joint-csv, matrix-json, matrix-csv, card, card-json, numa, numa-json, numa-csv, html, term, markdown, figures, svg, png, openmetrics, bencher, github-bigger, github-smaller' -r
complete -c charz -n "__fish_charz_using_subcommand render" -l figure -d 'The one figure to show; --format figures lists them' -r
complete -c charz -n "__fish_charz_using_subcommand render" -s o -l output -d 'The file to write, all of it or nothing; replaces what stands there' -r -F
complete -c charz -n "__fish_charz_using_subcommand render" -l color -d 'When to use colours: auto, always or never; auto heeds NO_COLOR, CLICOLOR and CLICOLOR_FORCE' -r
complete -c charz -n "__fish_charz_using_subcommand render" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand compare" -l baseline -d 'Take the base out of the history: newest, before-change, or the number of a report' -r
complete -c charz -n "__fish_charz_using_subcommand compare" -l db -d 'The history\'s file, as for charz history' -r -F
complete -c charz -n "__fish_charz_using_subcommand compare" -l format -d 'How: table, json, markdown' -r
complete -c charz -n "__fish_charz_using_subcommand compare" -l noise -d 'The file of noise floors [default: charz/noise.json in $XDG_STATE_HOME or ~/.local/state]' -r -F
complete -c charz -n "__fish_charz_using_subcommand compare" -l allow-suspect -d 'Compare suspect cells too; every such line says so'
complete -c charz -n "__fish_charz_using_subcommand compare" -l cross-machine -d 'Compare reports of different machines; every line says so'
complete -c charz -n "__fish_charz_using_subcommand compare" -l cross-build -d 'Compare reports of different builds of the kernels; every line says so'
complete -c charz -n "__fish_charz_using_subcommand compare" -l cross-plan -d 'Compare reports whose plans differ in what changes numbers (pages, sizes, iterations); every line says so'
complete -c charz -n "__fish_charz_using_subcommand compare" -l strict -d 'End with code 5 unless every cell has a verdict'
complete -c charz -n "__fish_charz_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand history; and not __fish_seen_subcommand_from add list show plot help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand history; and not __fish_seen_subcommand_from add list show plot help" -f -a "add" -d 'Add reports: all of them, or none'
complete -c charz -n "__fish_charz_using_subcommand history; and not __fish_seen_subcommand_from add list show plot help" -f -a "list" -d 'List the reports, the oldest first, and what changed from each to the next'
complete -c charz -n "__fish_charz_using_subcommand history; and not __fish_seen_subcommand_from add list show plot help" -f -a "show" -d 'Show a report that was added'
complete -c charz -n "__fish_charz_using_subcommand history; and not __fish_seen_subcommand_from add list show plot help" -f -a "plot" -d 'Show the numbers over time, and where they changed'
complete -c charz -n "__fish_charz_using_subcommand history; and not __fish_seen_subcommand_from add list show plot help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from add" -l label -d 'A label for them, e.g. "before the BIOS update"' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from add" -l db -d 'The history\'s file [default: $CHARZ_DB, or charz/history.db in $XDG_DATA_HOME or ~/.local/share]' -r -F
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from add" -l any-host -d 'Also take hosts with other names, if they are alike otherwise'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from list" -l format -d 'How: table, json, csv' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from list" -l db -d 'The history\'s file [default: $CHARZ_DB, or charz/history.db in $XDG_DATA_HOME or ~/.local/share]' -r -F
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from show" -l format -d 'How: table, json, csv, joint, joint-csv, matrix-json, matrix-csv, card, card-json, numa, numa-json, numa-csv, html, term, markdown, figures, svg, png, openmetrics, bencher, github-bigger, github-smaller' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from show" -l figure -d 'The one figure to show; --format figures lists them' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from show" -s o -l output -d 'The file to write or replace, all of it or nothing' -r -F
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from show" -l color -d 'When to use colours: auto, always or never; auto heeds NO_COLOR, CLICOLOR and CLICOLOR_FORCE' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from show" -l db -d 'The history\'s file [default: $CHARZ_DB, or charz/history.db in $XDG_DATA_HOME or ~/.local/share]' -r -F
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l kernel -d 'Only these kernels, separated by commas, by name or by how names begin, e.g. mem-read or level-*' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l mapping -d 'Only this mapping; may be given several times' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l threads -d 'Only these numbers of workers, separated by commas' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l point -d 'Only cells with these words in their parameters, as in the table, e.g. "256 MiB thp"' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l format -d 'How: table, json, csv, html, term, markdown, figures, svg, png' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l figure -d 'The one figure to show; --format figures lists them' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -s o -l output -d 'The file to write or replace, all of it or nothing' -r -F
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l color -d 'When to use colours: auto, always or never; auto heeds NO_COLOR, CLICOLOR and CLICOLOR_FORCE' -r
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l db -d 'The history\'s file [default: $CHARZ_DB, or charz/history.db in $XDG_DATA_HOME or ~/.local/share]' -r -F
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -l changed -d 'Only cells that changed'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from plot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "add" -d 'Add reports: all of them, or none'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the reports, the oldest first, and what changed from each to the next'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a report that was added'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "plot" -d 'Show the numbers over time, and where they changed'
complete -c charz -n "__fish_charz_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c charz -n "__fish_charz_using_subcommand doctor" -l format -d 'How: table, json' -r
complete -c charz -n "__fish_charz_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand explain" -l format -d 'How: text, markdown' -r
complete -c charz -n "__fish_charz_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand docs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand measure" -l about -d 'Only say how this program was built'
complete -c charz -n "__fish_charz_using_subcommand measure" -s h -l help -d 'Print help'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "topo" -d 'Show where the strands of a machine are, or what was measured of it'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "map" -d 'Show where a mapping puts workers'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "kernels" -d 'List the kernels: what each counts, and whether it can run here'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "sweep" -d 'Measure kernels under mappings with growing numbers of workers'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "c2c" -d 'Measure how long a line of memory takes from each core to each other'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "numa" -d 'Measure what memory takes from each NUMA node to each'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "ab" -d 'Compare two configurations, or two builds of charz, interleaved on this machine'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "selftest" -d 'Compare this machine with itself, and learn its noise floor'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "replicate" -d 'Run what a source document ran, and show each of its figures beside its own values'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "render" -d 'Show a report again'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "compare" -d 'Compare two reports: faster, slower, the same, or inconclusive, for every cell'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "history" -d 'Keep reports of one machine, and see when it changed'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "doctor" -d 'Look for what will disturb or limit measurements on this machine'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "explain" -d 'Explain a check that a number is marked by: cause, limits, evidence, and what to do'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "docs" -d 'Print generated documentation: shell completions, man pages, the schemas of reports and comparisons, tables of kernels, mappers and checks'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "measure" -d 'Measures one order from standard input: the other half of a sweep, which starts it'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep c2c numa ab selftest replicate render compare history doctor explain docs measure help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c charz -n "__fish_charz_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "add" -d 'Add reports: all of them, or none'
complete -c charz -n "__fish_charz_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "list" -d 'List the reports, the oldest first, and what changed from each to the next'
complete -c charz -n "__fish_charz_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "show" -d 'Show a report that was added'
complete -c charz -n "__fish_charz_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "plot" -d 'Show the numbers over time, and where they changed'
