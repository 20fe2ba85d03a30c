# SPDX-License-Identifier: Apache-2.0
"""holdfast for Conan 2: conan create packaging/conan [-o mysql=True] [-o metrics=True]. The
library alone; the program is a matter of the system's own packages."""
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir
from conan.tools.gnu import PkgConfigDeps


class HoldfastRecipe(ConanFile):
    name = "holdfast"
    description = "Distributed locks on Redis, MySQL and ZooKeeper, Redisson's and Curator's own"
    license = "Apache-2.0"
    topics = ("distributed-lock", "redis", "valkey", "redisson", "asio")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "mysql": [True, False], "metrics": [True, False]}
    default_options = {"shared": False, "mysql": False, "metrics": False,
                       "boost/*:header_only": True}

    @property
    def checkout(self) -> Path:
        return Path(self.recipe_folder).parents[1]

    def set_version(self):
        text = (self.checkout / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(holdfast VERSION ([\d.]+)", text)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "src/*", "tools/*", "docs/*",
                        "examples/*", "packaging/prometheus/*", "packaging/grafana/*"):
            copy(self, pattern, self.checkout, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Asio's types are in the interface: who uses holdfast has the same Boost.
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)
        self.requires("hiredis/[>=0.14 <2]")
        self.requires("openssl/[>=3 <4]")
        if self.options.mysql:
            self.requires("mariadb-connector-c/[>=3.3 <4]")
        if self.options.metrics:  # prometheus-cpp's headers are in the interface
            self.requires("prometheus-cpp/[>=1.0 <2]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()  # hiredis and others are looked for with pkg-config
        toolchain = CMakeToolchain(self)
        for part in ("CLI", "TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"HOLDFAST_BUILD_{part}"] = False
        toolchain.cache_variables["HOLDFAST_MYSQL"] = "ON" if self.options.mysql else "OFF"
        toolchain.cache_variables["HOLDFAST_METRICS"] = "ON" if self.options.metrics else "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes these for its users, and knows where it has put what they name.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, Path(self.package_folder, folder))

    def package_info(self):
        # What stands for both, which nobody asks for: holdfast::holdfast is the core alone.
        self.cpp_info.set_property("cmake_target_name", "holdfast::all")
        core = self.cpp_info.components["core"]
        core.libs = ["holdfast"]
        core.set_property("cmake_target_name", "holdfast::holdfast")
        core.set_property("pkg_config_name", "holdfast")
        core.system_libs = ["pthread"]
        core.requires = ["boost::headers", "hiredis::hiredis", "openssl::ssl", "openssl::crypto"]
        testing = self.cpp_info.components["testing"]
        testing.libs = ["holdfast_testing"]
        testing.set_property("cmake_target_name", "holdfast::testing")
        testing.set_property("pkg_config_name", "holdfast-testing")
        keep_scheme = ["-Wl,--no-as-needed,-u,holdfast_memory_scheme"]
        testing.exelinkflags = testing.sharedlinkflags = keep_scheme
        testing.requires = ["core"]
        if self.options.mysql:
            mysql = self.cpp_info.components["mysql"]
            mysql.libs = ["holdfast_mysql"]
            mysql.set_property("cmake_target_name", "holdfast::mysql")
            mysql.set_property("pkg_config_name", "holdfast-mysql")
            mysql.requires = ["core", "mariadb-connector-c::mariadb-connector-c"]
        if self.options.metrics:
            metrics = self.cpp_info.components["metrics"]
            metrics.libs = ["holdfast_metrics"]
            metrics.set_property("cmake_target_name", "holdfast::metrics")
            metrics.set_property("pkg_config_name", "holdfast-metrics")
            metrics.requires = ["core", "prometheus-cpp::prometheus-cpp-core"]
