// The peers that our figures stand beside: the same work done with the libraries everybody uses. A tool of the bench,
// not shipped.
//
//	peer watch KUBECONFIG EVENTS  follows all Services with a client-go informer
//	peer apply KUBECONFIG COUNT   applies ConfigMaps with client-go, prints milliseconds
//	peer rules COUNT              adds rules with vishvananda/netlink, prints milliseconds
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
	case len(args) == 3 && args[0] == "watch":
		events, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return watch(args[1], events)
	case len(args) == 3 && args[0] == "apply":
		count, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return apply(args[1], count, 4)
	case len(args) == 2 && args[0] == "rules":
		count, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return addRules(count)
	}
	return fmt.Errorf("usage: peer watch KUBECONFIG EVENTS | peer apply KUBECONFIG COUNT | peer rules COUNT")
}
