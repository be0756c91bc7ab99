#include "kernel/nft/watch.h"

#include <array>
#include <dirent.h>
#include <fstream>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <memory>
#include <string>
#include <sys/stat.h>

#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

constexpr std::size_t kBuffer = std::size_t{4} << 20U;

// Which sockets are this process's own, whoever has opened them: the kernel tells inode and port of every netlink
// socket of the namespace, and the inodes of this process's descriptors.
std::set<ino_t> open_inodes() {
  std::set<ino_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads this stream.
  while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
    struct stat about{};
    if (::fstatat(::dirfd(folder.get()), entry->d_name, &about, 0) == 0 && S_ISSOCK(about.st_mode)) {
      out.insert(about.st_ino);
    }
  }
  return out;
}

std::set<std::uint32_t> own_netfilter_ports() {
  std::set<std::uint32_t> out;
  const auto inodes = open_inodes();
  std::ifstream sockets("/proc/thread-self/net/netlink");
  std::string line;
  std::getline(sockets, line);  // Headings: sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode.
  std::string sk, groups, rmem, wmem, dump, locks, drops;
  for (std::uint32_t protocol = 0, port = 0;
       sockets >> sk >> protocol >> port >> groups >> rmem >> wmem >> dump >> locks >> drops;) {
    ino_t inode = 0;
    sockets >> inode;
    if (protocol == NETLINK_NETFILTER && inodes.contains(inode)) out.insert(port);
  }
  return out;
}

}  // namespace

bool is_about_our_table(const Received& event) {
  if (event.type >> 8U != NFNL_SUBSYS_NFTABLES || (event.type & 0xffU) == NFT_MSG_NEWGEN) return false;
  return names_our_table(event).value_or(true);  // What cannot be read may be about anything.
}

base::Result<Watch> Watch::open() {
  constexpr std::array<int, 1> kGroups = {NFNLGRP_NFTABLES};
  return Watch(TRY(EventSocket::open(Bus::netfilter, kGroups, kBuffer)));
}

base::Result<bool> Watch::foreign_change() {
  bool foreign = false;
  const auto drained = TRY(events_.drain([&](const Received& event) {
    if (!foreign && is_about_our_table(event)) foreign = !is_own(event.port);
  }));
  return foreign || drained.lost;
}

// Asked again for every port that is not known: a socket may have been opened since.
bool Watch::is_own(std::uint32_t port) {
  if (!own_ports_.contains(port)) own_ports_ = own_netfilter_ports();
  return own_ports_.contains(port);
}

}  // namespace kernel::nft
