# Copy into a repository of Spack's as packages/charz/package.py, then: spack install charz

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Charz(Package):
    """Measures a multi-core machine: where its hardware threads are, what each of them can do, what they cost each other, and
    where to put threads."""

    homepage = "https://charz.invalid/charz"
    git = "https://charz.invalid/charz.git"

    license("MIT")

    version("main", branch="main")

    depends_on("rust@1.95:", type="build")
    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.8:2")

    def install(self, spec, prefix):
        cargo = which("cargo")
        # The configuration of the checkout names the system's hwloc, so build from outside of it, where pkg-config finds Spack's.
        with working_dir("..", create=False):
            cargo("install", "--locked", "--root", prefix, "--path", join_path(self.stage.source_path, "crates", "charz"))
        charz = Executable(prefix.bin.charz)
        for page, folder, name in (
            ("completions-bash", prefix.share.join("bash-completion").completions, "charz"),
            ("completions-fish", prefix.share.fish.join("vendor_completions.d"), "charz.fish"),
            ("completions-zsh", prefix.share.zsh.join("site-functions"), "_charz"),
            ("man", prefix.share.man.man1, "charz.1"),
        ):
            mkdirp(folder)
            with open(join_path(folder, name), "w") as file:
                file.write(charz("docs", page, output=str))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.charz)("topo")
