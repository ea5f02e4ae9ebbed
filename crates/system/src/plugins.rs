//! What hwloc takes from the environment: which plugins it loads, and whether it prints what it finds odd.
//!
//! The plugins are for devices, displays and another parser of XML, bring X11 and OpenCL along, and take longer to load than hwloc takes
//! for a machine. What it finds odd is a doubt of the machine here, or an error: its own lines are for its developers.

use std::env;
use std::process::Command;

/// Where hwloc looks for plugins.
pub const PATH: &str = "HWLOC_PLUGINS_PATH";

/// A folder that nothing can create: a program that has it loads no plugins, and was not asked by its user to load some.
pub const NONE: &str = "/proc/self/no-plugins";

/// How many of its complaints hwloc hides.
pub const HIDE: &str = "HWLOC_HIDE_ERRORS";

/// All of them. hwloc reads 2, and no user writes it so.
pub const ALL: &str = "02";

/// The variables that a program of ours sets for itself unless its user did.
pub const OURS: [(&str, &str); 2] = [(PATH, NONE), (HIDE, ALL)];

/// Gives a program that is not ours the environment of the user: it may want plugins.
pub fn restore(command: &mut Command) -> &mut Command {
    for (name, value) in OURS {
        if env::var_os(name).is_some_and(|own| own == value) {
            command.env_remove(name);
        }
    }
    command
}
