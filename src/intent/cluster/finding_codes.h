#pragma once

#include <string>
#include <string_view>

// Every finding has a page of its own, named by a code; conditions and Events lead to it.
namespace intent {

// Of a condition's reason, or of the reason a node gives; empty where there is no page.
std::string_view finding_code(std::string_view reason);

// "message (IPR0311)", once.
std::string with_code(std::string message, std::string_view code);

}  // namespace intent
