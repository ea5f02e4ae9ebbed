//! The plugins of hwloc. They are for devices, displays and another parser of XML, bring X11 and OpenCL along, and take longer to load than
//! hwloc takes for a machine.

use std::env;
use std::process::Command;

/// Where hwloc looks for plugins.
pub const PATH: &str = "HWLOC_PLUGINS_PATH";

/// A folder that nothing can create: a program that has it loads no plugins, and was not asked by its user to load some.
pub const NONE: &str = "/proc/self/no-plugins";

/// Gives a program that is not ours the environment of the user: it may want plugins.
pub fn restore(command: &mut Command) -> &mut Command {
    match env::var_os(PATH).is_some_and(|path| path == NONE) {
        true => command.env_remove(PATH),
        false => command,
    }
}
