// Command kubernetes is every Kubernetes program the tests need in one file, so that the shared
// libraries are compiled, linked and stored once. The program is chosen by the name it is called by,
// or by its first argument: `kubernetes kube-apiserver --help`.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func cobraProgram(command func() *cobra.Command) func() int {
	return func() int { return cli.Run(command()) }
}

var programs = map[string]func() int{
	"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
	"kube-apiserver":          cobraProgram(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraProgram(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          cobraProgram(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kube-proxy":              cobraProgram(proxy.NewProxyCommand),
	"kubectl":                 cobraProgram(kubectl.NewDefaultKubectlCommand),
	"kubelet":                 cobraProgram(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
}

func main() {
	run, found := programs[filepath.Base(os.Args[0])]
	if !found && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		run, found = programs[os.Args[0]]
	}
	if !found {
		names := make([]string, 0, len(programs))
		for name := range programs {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: kubernetes PROGRAM [FLAGS]; PROGRAM is one of %s\n", strings.Join(names, ", "))
		os.Exit(2)
	}
	os.Exit(run())
}
