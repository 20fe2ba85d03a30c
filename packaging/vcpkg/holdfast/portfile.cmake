# The library from this checkout: vcpkg install 'holdfast[mysql]' --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_find_acquire_program(PKGCONFIG) # hiredis and libmariadb are looked for with it
set(mysql OFF)
if("mysql" IN_LIST FEATURES)
  set(mysql ON)
endif()
set(metrics OFF)
if("metrics" IN_LIST FEATURES)
  set(metrics ON)
endif()
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DHOLDFAST_BUILD_CLI=OFF -DHOLDFAST_BUILD_TESTS=OFF -DHOLDFAST_BUILD_EXAMPLES=OFF
          -DHOLDFAST_BUILD_BENCH=OFF "-DHOLDFAST_MYSQL=${mysql}" "-DHOLDFAST_METRICS=${metrics}"
          "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/holdfast)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
                    "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
