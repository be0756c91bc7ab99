// The program of a pod's first container, which holds the pod's namespaces: waits to be told to end.
#include <csignal>
#include <initializer_list>
#include <unistd.h>

int main() {
  for (const int signal : {SIGINT, SIGTERM}) (void)std::signal(signal, [](int) { ::_exit(0); });
  while (true) ::pause();
}
