# Configures the consumer with holdfast as a subdirectory, with the program and as a shared library,
# and installs it: there must be no file.
file(REMOVE_RECURSE "${BINARY}")
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND "${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${BINARY}" -G "${GENERATOR}"
          "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DHOLDFAST_SOURCE=${SOURCE}"
          -DHOLDFAST_BUILD_CLI=ON -DBUILD_SHARED_LIBS=ON)
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND "${CMAKE_COMMAND}" --install "${BINARY}" --prefix "${BINARY}/prefix")
file(GLOB_RECURSE installed "${BINARY}/prefix/*")
if(installed)
  message(FATAL_ERROR "nobody has asked for these files: ${installed}")
endif()
