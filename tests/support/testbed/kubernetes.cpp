#include "testbed/kubernetes.h"

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "testbed/process.h"

namespace testbed {

base::Result<std::filesystem::path> kubernetes_program() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment here.
  if (const char* path = std::getenv("IPRULE_KUBERNETES"); path != nullptr) return path;

  const std::string script = IPRULE_SOURCE_DIR "/.ci/kubernetes";
  Finished done = TRY(run({.arguments = {script}}, std::chrono::minutes(2)));
  if (!done.exit.ok() || !done.output.ends_with('\n'))
    return base::fail(base::Fault::absent,
                      fmt::format("run .ci/kubernetes first: {}{}", done.exit.text(), done.errors));
  done.output.pop_back();
  return done.output;
}

}  // namespace testbed
