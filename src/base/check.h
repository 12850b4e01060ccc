// CHECK: states a fact that cannot be false unless we made a mistake. It stays on
// in production: a broken invariant stops the process with the fact and the place.
// What may happen in a sound program is a Result, never a CHECK.
#pragma once

namespace trainyard {

[[noreturn]] void check_failed(const char* fact, const char* file, int line);

}  // namespace trainyard

#define CHECK(fact) ((fact) ? (void)0 : ::trainyard::check_failed(#fact, __FILE__, __LINE__))
