// The pages that a newcomer follows, tried out: every command of a `console` block is run, in order, on a node of the
// example world, and must print what the page shows. IPRULE_UPDATE_PAGES=1 writes what was printed into the pages.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/scene.h"
#include "lab/service_proxy.h"
#include "lab/world.h"
#include "testbed/page.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testbed::tells_truly;

const std::filesystem::path kSource = IPRULE_SOURCE_DIR;

// What `make run` runs once it has built.
std::string without_make(const std::string& command) {
  return command == "make run" ? "iprulectl lab" : command;
}

// A machine for the reader of a page: worker-1 of the example world, an empty home, an /etc of its own.
class Reader {
 public:
  base::Status settle(bool has_service_proxy) {
    world_.emplace(TRY(lab::World::make()));
    scene_ = TRY(lab::Scene::build(*world_, 1));
    node_ = &scene_->nodes().front();
    for (const auto& name : {"home", "etc", "bin"}) std::filesystem::create_directories(folder_ / name);
    std::filesystem::create_symlink(IPRULECTL, folder_ / "bin/iprulectl");
    std::filesystem::create_symlink(IPRULE_AGENT, folder_ / "bin/iprule-agent");
    for (const auto& name : {"config", "examples"}) {
      std::filesystem::create_directory_symlink(kSource / name, folder_ / "home" / name);
    }
    return has_service_proxy ? lab::translate_vips(*node_) : base::Status();
  }

  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = folder_ / (name.starts_with("/etc/") ? name.substr(1) : "home/" + name);
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(base::write_file(file, text));
  }

  // Both outputs, as on a terminal.
  std::string type(const std::string& command) {
    constexpr std::string_view kSettled =
        "mount --bind {0}/etc /etc && hostname worker-1 && cd {0}/home && PATH={0}/bin:$PATH && {1}";
    const auto done = testbed::run(
        {.arguments = {"unshare", "--mount", "--uts", "sh", "-c",
                       fmt::format(fmt::runtime(kSettled), folder_.path().native(), "(" + command + ") 2>&1")},
         .network = node_->host->network()},
        300s);
    EXPECT_TRUE(done) << done.error().message();
    return done ? done->output + done->errors : "";
  }

 private:
  testbed::TempFolder folder_;
  std::optional<lab::World> world_;
  std::unique_ptr<lab::Scene> scene_;
  lab::SceneNode* node_ = nullptr;
};

class Page : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Pages, Page,
                         testing::Values("README.md", "docs/how-to/service-rules.md", "docs/how-to/standalone.md",
                                         "docs/reference/settings.md", "tests/programs/golden/host.md"),
                         [](const auto& page) {
                           const std::filesystem::path path = page.param;
                           std::string name = path.stem().native();
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Page, shows_what_its_commands_print) {
  Reader reader;
  // A host on its own has none.
  const auto settled = reader.settle(std::string_view(GetParam()) != "docs/how-to/standalone.md");
  ASSERT_TRUE(settled) << settled.error().message();
  const std::size_t commands =
      testbed::try_out(kSource / GetParam(),
                       {.write = [&](const std::string& name, const std::string& text) { reader.write(name, text); },
                        .type = [&](const std::string& command) { return reader.type(without_make(command)); }});
  EXPECT_GT(commands, 0U);
}

TEST(Pages, what_is_left_out_may_be_anything_and_the_rest_must_be_right) {
  EXPECT_TRUE(tells_truly("a 3 ms\nb\n", "a  17 ms\nb\n"));
  EXPECT_TRUE(tells_truly("a\n...\nd\n", "a\nb\nc\nd\n"));
  EXPECT_FALSE(tells_truly("a\n...\nd\n", "x\na\nb\nd\n"));
  EXPECT_FALSE(tells_truly("a\n...\nd\n", "a\nb\nd\ne\n"));
  EXPECT_FALSE(tells_truly("a\n", "a\nb\n"));
  EXPECT_TRUE(tells_truly("a 0.1.0 6.1.0-18-amd64 -\n", "a 0.1.0 6.18.44-fc-v509 -\n"));
  EXPECT_FALSE(tells_truly("a 0.1.0 6.1.0-18-amd64 -\n", "a 0.1.1 6.18.44-fc-v509 -\n"));
  EXPECT_FALSE(tells_truly("a 0.1.0-rc.1 -\n", "a 0.1.0-rc.2 -\n")) << "a version of ours counts with all its parts";
}

TEST(Pages, make_run_runs_the_lab) {
  const auto makefile = base::read_file(kSource / "Makefile");
  ASSERT_TRUE(makefile) << makefile.error().message();
  EXPECT_THAT(*makefile, testing::HasSubstr("\n\tbuild/release/apps/iprulectl lab\n"));
}

}  // namespace
