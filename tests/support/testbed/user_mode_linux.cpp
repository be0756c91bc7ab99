#include "testbed/user_mode_linux.h"

#include <charconv>
#include <filesystem>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/file.h"
#include "testbed/temp_folder.h"

namespace testbed {
namespace {

// The guest's first program. Its root is ours, read-only; only the test's folder, on /mnt, can be written to. /run is
// new, because the place it has on our side is not one that a guest should see.
constexpr std::string_view kInit = R"(#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t hostfs none /mnt -o {folder}
mount -t tmpfs tmpfs /run
mkdir -p /run/lib && ln -s /usr/lib/uml/modules /run/lib/modules
for module in ipv6 8021q bonding bridge dummy nf_tables veth vrf; do modprobe -d /run $module || echo "no module $module"; done
ip link set lo up
cd /
{command} >/mnt/output 2>&1 </dev/null
echo $? >/mnt/exit
echo o >/proc/sysrq-trigger
sleep 60
)";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& argument : arguments) out += quoted(argument) + " ";
  return out;
}

}  // namespace

base::Result<Finished> run_in_user_mode_linux(const std::vector<std::string>& arguments, base::Duration bound) {
  const TempFolder folder;
  const std::string init = folder / "init";
  TRY(base::write_file(init, fmt::format(kInit, fmt::arg("folder", folder.path().native()),
                                         fmt::arg("command", command_line(arguments)))));
  ::chmod(init.c_str(), 0700);
  const Command boot{
      .arguments = {"linux.uml", "mem=256M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "init=" + init,
                    "uml_dir=" + folder.path().native(), "con=null", "con0=null,fd:1", "quiet", "panic=-1"},
      .environment = {"HOME=" + folder.path().native(), "TMPDIR=" + folder.path().native(), "LD_PRELOAD=" XSTATE}};
  const Finished console = TRY(run(boot, bound));

  Finished done{.exit = {}, .output = base::read_file(folder / "output").value_or(""), .errors = console.output};
  const auto code = base::read_file(folder / "exit");
  if (!code || std::from_chars(code->data(), code->data() + code->size(), done.exit.code).ec != std::errc())
    return base::fail(base::Fault::unavailable,
                      fmt::format("the guest ended without a result ({}):\n{}{}\n{}", console.exit.text(),
                                  console.output, console.errors, done.output));
  return done;
}

}  // namespace testbed
