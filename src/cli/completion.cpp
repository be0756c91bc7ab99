#include "cli/completion.h"

#include <algorithm>

namespace cli {
namespace {

constexpr std::string_view kBash =
    R"(# bash completion for iprulectl; put it into /etc/bash_completion.d or: source <(iprulectl completion bash)
_iprulectl() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("${line%%$'\t'*}"); done \
    < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _iprulectl iprulectl
)";

constexpr std::string_view kZsh = R"(#compdef iprulectl
# zsh completion for iprulectl; put it into a folder of $fpath as _iprulectl, or: source <(iprulectl completion zsh)
_iprulectl() {
  local -a found
  local line
  while IFS= read -r line; do found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); done \
    < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#found} )); then _describe iprulectl found; else _files; fi
}
# Loaded from $fpath, this file is the function itself, called for the first time; sourced, it only makes it known.
if [[ ${funcstack[1]} == _iprulectl ]]; then _iprulectl "$@"; else compdef _iprulectl iprulectl; fi
)";

constexpr std::string_view kFish =
    R"(# fish completion for iprulectl; put it into ~/.config/fish/completions/iprulectl.fish
function __iprulectl_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (iprulectl __complete $words[2..-1] 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c iprulectl -f -a '(__iprulectl_complete)'
)";

const Flag* find_flag(const CommandTree& command, std::string_view name) {
  const auto found = std::ranges::find(command.flags, name, &Flag::name);
  return found != command.flags.end() ? &*found : nullptr;
}

}  // namespace

std::vector<Candidate> complete(const CommandTree& tree, std::span<const std::string> words) {
  if (words.empty()) return {};
  const CommandTree* command = &tree;
  const Flag* waiting = nullptr;  // The flag whose value comes next.
  for (const std::string& word : words.first(words.size() - 1)) {
    if (waiting != nullptr) {
      waiting = nullptr;
    } else if (word.starts_with('-')) {
      const Flag* flag = find_flag(*command, word);
      if (flag != nullptr && flag->takes_value) waiting = flag;
    } else if (const auto next = std::ranges::find(command->commands, word, &CommandTree::name);
               next != command->commands.end()) {
      command = &*next;
    }
  }
  std::vector<Candidate> out;
  const auto offer = [&](const std::string& word, const std::string& description) {
    if (word.starts_with(words.back())) out.push_back({.word = word, .description = description});
  };
  if (waiting != nullptr) {
    for (const std::string& value : waiting->values) offer(value, "");
  } else if (words.back().starts_with('-')) {
    for (const Flag& flag : command->flags) offer(flag.name, flag.description);
  } else {
    for (const CommandTree& next : command->commands) offer(next.name, next.description);
    for (const std::string& word : command->words) offer(word, "");
  }
  return out;
}

std::string_view completion_script(Shell shell) {
  switch (shell) {
    case Shell::bash:
      return kBash;
    case Shell::zsh:
      return kZsh;
    case Shell::fish:
      return kFish;
  }
  return "";
}

}  // namespace cli
