# One library per room (design: a folder is a room). A room's sources, tests and
# benches are found by name, so adding a file needs no edit here:
#   x.cc        -> library trainyard_<room>
#   x_test.cc   -> executable <room>_test, registered with ctest
#   x_fuzz.cc   -> executable <room>_x_fuzz, only with TRAINYARD_FUZZ
# REQUIRES names the rooms it may include; tests/layers checks the includes. ASIO names
# the files that include Asio or Beast: they have a precompiled header of their own. A COLD
# room waits for people, disks and networks most of its time: -O1 is enough for it.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

add_library(trainyard_flags INTERFACE)
target_compile_options(trainyard_flags INTERFACE -Wall -Wextra -Werror -Wswitch-enum -Wno-missing-field-initializers)
target_include_directories(trainyard_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -fpch-preprocess lets ccache see through the precompiled header. The compiler collects its
  # garbage only beyond a gigabyte: it spends a tenth of its time on it otherwise. The
  # warnings are wrong about optionals and variants in g++ 12.
  target_compile_options(trainyard_flags INTERFACE -fpch-preprocess "SHELL:--param ggc-min-heapsize=1048576"
    -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()
if(TRAINYARD_SANITIZE)
  target_compile_options(trainyard_flags INTERFACE -fsanitize=${TRAINYARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined
    $<$<BOOL:$<TARGET_PROPERTY:TRAINYARD_ASIO>>:-fno-sanitize=undefined>)
  target_link_options(trainyard_flags INTERFACE -fsanitize=${TRAINYARD_SANITIZE})
endif()
if(TRAINYARD_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Asio has fences, which this sanitizer does not see; mutexes, which it sees, guard the same.
  target_compile_options(trainyard_flags INTERFACE -Wno-tsan)
endif()
if(TRAINYARD_FUZZ)
  # Not where Asio is: clang 14 cannot measure the coverage of coroutines, and nothing there is fuzzed.
  target_compile_options(trainyard_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TRAINYARD_ASIO>>>:-fsanitize=fuzzer-no-link>)
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

# Asio and Beast are slow to parse and slow to optimise, and what they do waits for the
# network: they are parsed once, their own functions are compiled once, here, and all of it
# with -O1. Whoever includes one of their headers must be compiled with these definitions.
set(TRAINYARD_ASIO_DEFINITIONS BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
set(TRAINYARD_ASIO_OPTIONS $<$<CONFIG:Release>:-O1>)
if(TRAINYARD_SANITIZE)
  # Minutes and gigabytes per file otherwise, most of it for code that is not ours; for the same reason
  # the sanitizer of undefined behaviour is off there (above).
  set(TRAINYARD_ASIO_OPTIONS -O0)
endif()
add_library(trainyard_asio STATIC ${PROJECT_SOURCE_DIR}/cmake/asio.cc)
target_link_libraries(trainyard_asio PUBLIC trainyard_flags Boost::json fmt::fmt OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_compile_definitions(trainyard_asio PRIVATE ${TRAINYARD_ASIO_DEFINITIONS})
target_compile_options(trainyard_asio PRIVATE ${TRAINYARD_ASIO_OPTIONS})
set_target_properties(trainyard_asio PROPERTIES TRAINYARD_ASIO ON)
target_precompile_headers(trainyard_asio PRIVATE ${PROJECT_SOURCE_DIR}/cmake/asio_pch.h)

# Boost.JSON for programs that handle documents most of their time: where it is a shared library it calls itself
# the long way round.
add_library(trainyard_json OBJECT ${PROJECT_SOURCE_DIR}/cmake/json.cc)
target_link_libraries(trainyard_json PRIVATE trainyard_flags Boost::json)
target_compile_definitions(trainyard_json PRIVATE NDEBUG)  # as in the library: it checks each of its own steps otherwise
if(NOT TRAINYARD_SANITIZE)
  # One file, in which worlds spend a third of their instructions: with -O3 they take 0.8% fewer.
  target_compile_options(trainyard_json PRIVATE $<$<CONFIG:Release>:-O3>)
endif()

# With TRAINYARD_UNITY, `batch` files of the target are compiled as one. So names in
# anonymous namespaces are unique within a room, and in its tests.
function(trainyard_unite target batch)
  if(TRAINYARD_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

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
  trainyard_unite(${target} 8)
  target_compile_definitions(${target} PRIVATE TRAINYARD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${label} COMMAND ${target} --gtest_brief=1)
endfunction()

function(trainyard_room name)
  cmake_parse_arguments(ROOM "COLD" "" "REQUIRES;LINKS;ASIO" ${ARGN})
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
  list(TRANSFORM ROOM_ASIO PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  if(ROOM_ASIO)
    list(REMOVE_ITEM sources ${ROOM_ASIO})
    add_library(trainyard_${name}_asio OBJECT ${ROOM_ASIO})
    target_link_libraries(trainyard_${name}_asio PRIVATE trainyard_asio)
    target_compile_definitions(trainyard_${name}_asio PRIVATE ${TRAINYARD_ASIO_DEFINITIONS})
    target_compile_options(trainyard_${name}_asio PRIVATE ${TRAINYARD_ASIO_OPTIONS})
    set_target_properties(trainyard_${name}_asio PROPERTIES TRAINYARD_ASIO ON)
    target_precompile_headers(trainyard_${name}_asio REUSE_FROM trainyard_asio)
    trainyard_unite(trainyard_${name}_asio 3)
    if(TRAINYARD_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # A file that is included into a unit looks like a header to it, where a coroutine's
      # frame must not hold what is local to a file.
      target_compile_options(trainyard_${name}_asio PRIVATE -Wno-subobject-linkage)
    endif()
    list(APPEND sources $<TARGET_OBJECTS:trainyard_${name}_asio>)
    list(APPEND ROOM_LINKS trainyard_asio)
  endif()
  if(sources)
    add_library(trainyard_${name} STATIC ${sources})
    target_link_libraries(trainyard_${name} PUBLIC trainyard_flags Boost::json fmt::fmt ${required} PRIVATE ${ROOM_LINKS})
    target_precompile_headers(trainyard_${name} REUSE_FROM trainyard_pch)
    trainyard_unite(trainyard_${name} 12)
    if(ROOM_COLD)
      target_compile_options(trainyard_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
  else()
    add_library(trainyard_${name} INTERFACE)
    target_link_libraries(trainyard_${name} INTERFACE trainyard_flags Boost::json fmt::fmt ${required} ${ROOM_LINKS})
  endif()
  if(tests)
    trainyard_test(${name}_test ${name} SOURCES ${tests} LINKS trainyard_${name} ${ROOM_LINKS})
  endif()
  if(ROOM_ASIO)
    target_compile_definitions(trainyard_${name} PRIVATE ${TRAINYARD_ASIO_DEFINITIONS})
    target_compile_definitions(${name}_test PRIVATE ${TRAINYARD_ASIO_DEFINITIONS})
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
