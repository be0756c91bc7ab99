// The peers that our figures stand beside: the same work done with the libraries everybody uses. A tool of the bench,
// not shipped.
//
//	peer watch KUBECONFIG EVENTS  follows all Services with a client-go informer, by protobuf as it does by itself
//	peer watch-json KUBECONFIG EVENTS  the same by JSON, as it follows all kinds of custom resources
//	peer apply KUBECONFIG COUNT   applies ConfigMaps with client-go, prints milliseconds
//	peer rules COUNT              adds rules with vishvananda/netlink, prints milliseconds
//	peer routes COUNT             the same with routes
//	peer manager [FLAGS]          publishes objects for Services with controller-runtime; access as KUBECONFIG says
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) >= 1 && args[0] == "manager":
		return manage()
	case len(args) == 3 && args[0] == "watch":
		return counted(args[2], func(events int) error { return watch(args[1], events, "") })
	case len(args) == 3 && args[0] == "watch-json":
		return counted(args[2], func(events int) error { return watch(args[1], events, "application/json") })
	case len(args) == 3 && args[0] == "apply":
		return counted(args[2], func(count int) error { return apply(args[1], count, 4) })
	case len(args) == 2 && args[0] == "rules":
		return counted(args[1], addRules)
	case len(args) == 2 && args[0] == "routes":
		return counted(args[1], addRoutes)
	}
	return fmt.Errorf("usage: peer watch KUBECONFIG EVENTS | peer watch-json KUBECONFIG EVENTS | peer apply KUBECONFIG COUNT | peer rules COUNT | peer routes COUNT | peer manager")
}

func counted(text string, work func(int) error) error {
	count, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	return work(count)
}
