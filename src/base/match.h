// Match: visits a closed variant with one lambda per alternative. A new alternative
// that nobody handles is a compile error.
//   std::visit(Match{[](const A&) {...}, [](const B&) {...}}, variant);
#pragma once

namespace trainyard {

template <typename... Fs>
struct Match : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Match(Fs...) -> Match<Fs...>;

}  // namespace trainyard
