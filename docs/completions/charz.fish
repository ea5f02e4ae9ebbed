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
complete -c charz -n "__fish_charz_needs_command" -f -a "topo" -d 'Show where the strands of a machine are'
complete -c charz -n "__fish_charz_needs_command" -f -a "map" -d 'Show where a mapping puts workers'
complete -c charz -n "__fish_charz_needs_command" -f -a "kernels" -d 'List the kernels: what each counts, and whether it can run here'
complete -c charz -n "__fish_charz_needs_command" -f -a "sweep" -d 'Measure kernels under mappings with growing numbers of workers'
complete -c charz -n "__fish_charz_needs_command" -f -a "render" -d 'Show a report again'
complete -c charz -n "__fish_charz_needs_command" -f -a "docs" -d 'Print generated documentation: shell completions, man pages, the report\'s schema, tables of kernels and mappers'
complete -c charz -n "__fish_charz_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c charz -n "__fish_charz_using_subcommand topo" -l topology -d 'Which machine: this one, a file of hwloc XML, or a synthetic description' -r
complete -c charz -n "__fish_charz_using_subcommand topo" -l format -d 'How: tree, table, psrinfo, json' -r
complete -c charz -n "__fish_charz_using_subcommand topo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand map" -l mapping -d 'The mapping; --help lists them' -r
complete -c charz -n "__fish_charz_using_subcommand map" -l threads -d 'How many workers' -r
complete -c charz -n "__fish_charz_using_subcommand map" -l topology -d 'Which machine: this one, a file of hwloc XML, or a synthetic description' -r
complete -c charz -n "__fish_charz_using_subcommand map" -l format -d 'How: table, json, taskset, omp-places, gomp, likwid, srun, cpuset' -r
complete -c charz -n "__fish_charz_using_subcommand map" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand kernels" -l format -d 'How: table, json' -r
complete -c charz -n "__fish_charz_using_subcommand kernels" -s h -l help -d 'Print help'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l mapping -d 'Mappings, separated by commas; --help lists them' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l kernel -d 'Kernels, separated by commas: arith-int, arith-float, peak-int, peak-float, mem-read, mem-read-streams, mem-write, mem-write-data, mem-memset, mem-write-nt, mem-copy, mem-triad, noop' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l family -d 'All kernels of families (compute, memory, floor), separated by commas' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l threads -d 'Numbers of workers: auto, or a list of numbers and ranges such as 1,2,4-8,16-64:16' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l size -d 'Size of a worker\'s private block in memory kernels, e.g. 256MiB' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l iterations -d 'Steps of the loop per worker and repetition in compute kernels: auto, or a number' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l repetitions -d 'Repetitions of each cell; all are kept' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l budget -d 'The longest that the sweep may take, with a unit, e.g. 90s, 10m; cells that do not fit stay pending' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l pages -d 'Pages of the blocks: 4k, thp (transparent huge pages), 2m or 1g (reserved); the report says what was obtained' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l layout -d 'How the inputs of arithmetic kernels lie in memory: padded, or contiguous as in the T3-4 report' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l clock -d 'What stamps starts and ends: os (CLOCK_MONOTONIC) or tsc (time-stamp counter)' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l binder -d 'What binds workers to seats: hwloc, or core-affinity (strands below 1024 only)' -r
complete -c charz -n "__fish_charz_using_subcommand sweep" -l output -d 'The report\'s file [default: charz-<date>-<time>.json in this folder]' -r -F
complete -c charz -n "__fish_charz_using_subcommand sweep" -l resume -d 'Finish an interrupted report, with its own plan' -r -F
complete -c charz -n "__fish_charz_using_subcommand sweep" -l force -d 'Replace an existing output file'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l dry-run -d 'Print every cell, its memory and its predicted time; measure nothing but a few milliseconds of pilot runs'
complete -c charz -n "__fish_charz_using_subcommand sweep" -l quick -d 'A coarse look in about 20 seconds: 1 worker and one a strand, 128 MiB blocks'
complete -c charz -n "__fish_charz_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand render" -l format -d 'How: table, json, csv' -r
complete -c charz -n "__fish_charz_using_subcommand render" -s h -l help -d 'Print help'
complete -c charz -n "__fish_charz_using_subcommand docs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep render docs help" -f -a "topo" -d 'Show where the strands of a machine are'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep render docs help" -f -a "map" -d 'Show where a mapping puts workers'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep render docs help" -f -a "kernels" -d 'List the kernels: what each counts, and whether it can run here'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep render docs help" -f -a "sweep" -d 'Measure kernels under mappings with growing numbers of workers'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep render docs help" -f -a "render" -d 'Show a report again'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep render docs help" -f -a "docs" -d 'Print generated documentation: shell completions, man pages, the report\'s schema, tables of kernels and mappers'
complete -c charz -n "__fish_charz_using_subcommand help; and not __fish_seen_subcommand_from topo map kernels sweep render docs help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
