#include "cli/completion_install.h"

#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/file.h"
#include "cli/completion.h"
#include "cli/terminal.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr const char* kKubectlName = "kubectl_complete-iprule";

struct Target {
  Shell shell;
  std::filesystem::path file;
};

std::optional<Target> target_of(const ShellPlace& place) {
  const auto data = place.data.empty() ? place.home / ".local/share" : place.data;
  const auto config = place.config.empty() ? place.home / ".config" : place.config;
  const std::string name = std::filesystem::path(place.shell).filename();
  if (name == "bash") return Target{Shell::bash, data / "bash-completion/completions/iprulectl"};
  if (name == "fish") return Target{Shell::fish, config / "fish/completions/iprulectl.fish"};
  if (name == "zsh") return Target{Shell::zsh, data / "zsh/site-functions/_iprulectl"};
  return std::nullopt;
}

// bash and fish look into their folders by themselves; zsh into those of $fpath, which are named in .zshrc. That file
// is the person's own: what is missing in it is said, and not written.
std::string left_to_do(const ShellPlace& place, const Target& target) {
  if (target.shell != Shell::zsh) return "";
  const auto settings = (place.zdotdir.empty() ? place.home : place.zdotdir) / ".zshrc";
  const std::string folder = target.file.parent_path().native();
  const auto text = base::read_file(settings);
  if (text && text->contains(folder)) return "";
  return fmt::format("put into {}, before compinit: fpath=('{}' $fpath)", settings.native(), folder);
}

// What is there already under that name is replaced only where it leads to us.
base::Status link_beside(const std::filesystem::path& program) {
  const auto link = program.parent_path() / kKubectlName;
  std::error_code error;
  if (std::filesystem::equivalent(link, program, error)) return {};
  std::filesystem::create_symlink(program.filename(), link, error);
  if (error) return base::fail_errno(fmt::format("make {}", link.native()), error.value());
  return {};
}

}  // namespace

base::Result<ShellPlace> ShellPlace::of_process() {
  std::error_code error;
  ShellPlace out{.shell = variable("SHELL"),
                 .home = variable("HOME"),
                 .data = variable("XDG_DATA_HOME"),
                 .config = variable("XDG_CONFIG_HOME"),
                 .zdotdir = variable("ZDOTDIR"),
                 .program = {}};
  out.program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return base::fail_errno("find this program", error.value());
  if (out.home.empty()) return base::fail(base::Fault::invalid, "HOME is not set: nobody knows where to write");
  return out;
}

base::Result<Answer> install_completion(const ShellPlace& place) {
  const auto target = target_of(place);
  if (!target) {
    return base::fail(base::Fault::invalid,
                      fmt::format("SHELL is \"{}\", which is none of bash, zsh, fish; `iprulectl completion SHELL` "
                                  "prints what one of them needs",
                                  place.shell));
  }
  std::error_code error;
  std::filesystem::create_directories(target->file.parent_path(), error);
  TRY(base::write_file(target->file, completion_script(target->shell)));
  const auto linked = link_beside(place.program);
  Answer answer;
  const std::string left = left_to_do(place, *target);
  answer.page.line("{}: completion for iprulectl written; {}", target->file.native(),
                   left.empty() ? "open a new shell" : left);
  if (!left.empty()) answer.code = ExitCode::attention;
  if (linked) {
    answer.page.line("kubectl iprule: completed by {}", (place.program.parent_path() / kKubectlName).native());
  } else {
    answer.page.put("kubectl iprule: not completed: ", Tone::warning).put(linked.error().message()).end_line();
    answer.code = ExitCode::attention;
  }
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "CompletionInstalled");
    out.put("file", target->file.native());
    out.put_unless_empty("leftToDo", left);
    out.put("kubectl", linked.has_value());
  });
  return answer;
}

}  // namespace cli
