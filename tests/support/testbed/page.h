#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace testbed {

// A page of the documentation whose fenced blocks are tried out:
//
//   ```yaml                  a file, named by a comment in the first line: `# public-eu.yaml`
//   ```console               commands after `$ `, each followed by what it prints; a line `...` for what is left out
//
// Other blocks are for reading.
class Document {
 public:
  struct Piece {
    enum class Kind { text, file, command };
    Kind kind = Kind::text;
    std::string head;  // Of a file its name, of a command what is typed.
    std::string body;  // The text; the file; what the command prints.
  };

  static Document parse(std::string_view page);

  std::vector<Piece>& pieces() { return pieces_; }
  std::string text() const;  // The page again.

 private:
  std::vector<Piece> pieces_;
};

// Who follows a page: writes its files, types its commands and says what both outputs showed.
struct PageReader {
  std::function<void(const std::string& name, const std::string& text)> write;
  std::function<std::string(const std::string& command)> type;
};

// Follows the page from top to bottom; what is printed otherwise than it shows is a failure of the test. With
// IPRULE_UPDATE_PAGES=1 the page is written anew with what was printed. How many commands it has.
std::size_t try_out(const std::filesystem::path& page, const PageReader& reader);

// Whether a page that shows `shown` is right about a command that printed `printed`.
bool tells_truly(const std::string& shown, const std::string& printed);

// Without what differs from run to run: durations, ages, packet counts of a stretch of time, versions of kernels, who
// leads, and how far columns are apart.
std::string masked(std::string text);

}  // namespace testbed
