# One library per room (design: a folder is a room). A room's sources, tests and
# benches are found by name, so adding a file needs no edit here:
#   x.cc        -> library trainyard_<room>
#   x_test.cc   -> executable <room>_test, registered with ctest
#   x_fuzz.cc   -> executable <room>_x_fuzz, only with TRAINYARD_FUZZ
# REQUIRES names the rooms it may include; tests/layers checks the includes.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

add_library(trainyard_flags INTERFACE)
target_compile_options(trainyard_flags INTERFACE -Wall -Wextra -Werror -Wswitch-enum -Wno-missing-field-initializers)
target_include_directories(trainyard_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -fpch-preprocess lets ccache see through the precompiled header. The other
  # warnings are wrong about optionals and variants in g++ 12.
  target_compile_options(trainyard_flags INTERFACE -fpch-preprocess
    -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()
if(TRAINYARD_SANITIZE)
  target_compile_options(trainyard_flags INTERFACE -fsanitize=${TRAINYARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(trainyard_flags INTERFACE -fsanitize=${TRAINYARD_SANITIZE})
endif()
if(TRAINYARD_FUZZ)
  target_compile_options(trainyard_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The precompiled header that every room shares.
add_library(trainyard_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(trainyard_pch PUBLIC trainyard_flags Boost::json fmt::fmt)
target_precompile_headers(trainyard_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

# Tests have one of their own, with GoogleTest in it, and are not optimised: what they
# test is, and compiling them is half of a clean build.
add_library(trainyard_test_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(trainyard_test_pch PUBLIC trainyard_flags Boost::json fmt::fmt GTest::gtest GTest::gmock)
target_compile_options(trainyard_test_pch PRIVATE -O0)
target_precompile_headers(trainyard_test_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/test_pch.h)

# A test executable, run by ctest as `label`. OPTIMISED where the test's own code is the work.
function(trainyard_test target label)
  cmake_parse_arguments(TEST "OPTIMISED" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${target} ${TEST_SOURCES})
  target_link_libraries(${target} PRIVATE ${TEST_LINKS} trainyard_flags Boost::json fmt::fmt
    GTest::gtest_main GTest::gmock)
  if(NOT TEST_OPTIMISED)
    target_compile_options(${target} PRIVATE -O0)
    target_precompile_headers(${target} REUSE_FROM trainyard_test_pch)
  endif()
  target_compile_definitions(${target} PRIVATE TRAINYARD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${label} COMMAND ${target} --gtest_brief=1)
endfunction()

function(trainyard_room name)
  cmake_parse_arguments(ROOM "" "" "REQUIRES;LINKS" ${ARGN})
  set(required)
  foreach(room ${ROOM_REQUIRES})
    list(APPEND required trainyard_${room})
  endforeach()
  file(GLOB all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  if(sources)
    add_library(trainyard_${name} STATIC ${sources})
    target_link_libraries(trainyard_${name} PUBLIC trainyard_flags Boost::json fmt::fmt ${required} PRIVATE ${ROOM_LINKS})
    target_precompile_headers(trainyard_${name} REUSE_FROM trainyard_pch)
  else()
    add_library(trainyard_${name} INTERFACE)
    target_link_libraries(trainyard_${name} INTERFACE trainyard_flags Boost::json fmt::fmt ${required} ${ROOM_LINKS})
  endif()
  if(tests)
    trainyard_test(${name}_test ${name} SOURCES ${tests} LINKS trainyard_${name} ${ROOM_LINKS})
  endif()
  if(TRAINYARD_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(stem ${fuzzer} NAME_WE)
      add_executable(${name}_${stem} ${fuzzer})
      target_link_libraries(${name}_${stem} PRIVATE trainyard_${name})
      target_link_options(${name}_${stem} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()
