// Enum <-> text from one declaration: BOOST_DESCRIBE_ENUM(Enum, A, B, C) next to the enum, then enum_name(value).
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <string_view>

namespace weir {

// The enumerator's name as written, or "?" for a value that has none.
template <typename E>
constexpr std::string_view enum_name(E value) {
  std::string_view name = "?";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (d.value == value) name = d.name;
  });
  return name;
}

}  // namespace weir
