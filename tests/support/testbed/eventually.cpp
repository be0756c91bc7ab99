#include "testbed/eventually.h"

#include "lab/await.h"

namespace testbed {

testing::AssertionResult eventually(std::string_view what, base::Duration bound, const std::function<bool()>& fact) {
  if (lab::await(bound, fact)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "not so after " << std::chrono::duration<double>(bound).count()
                                     << " s: " << what;
}

}  // namespace testbed
