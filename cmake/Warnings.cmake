# Warnings are errors in the dev and asan presets; release builds of users must not break on a newer compiler.
option(WEIR_WERROR "treat warnings as errors" OFF)
option(WEIR_TESTS "build the tests" ON)
add_library(weir_warnings INTERFACE)
target_compile_options(weir_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(WEIR_WERROR)
  target_compile_options(weir_warnings INTERFACE -Werror)
endif()
