package main

import (
	"fmt"
	"net"
	"time"

	"github.com/vishvananda/netlink"
)

func addRules(count int) error {
	rules := make([]*netlink.Rule, count)
	for i := range rules {
		rule := netlink.NewRule()
		rule.Family = netlink.FAMILY_V4
		rule.Src = &net.IPNet{IP: net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)).To4(), Mask: net.CIDRMask(32, 32)}
		rule.Table = 100
		rule.Priority = 1000
		rule.Protocol = 183
		rules[i] = rule
	}
	start := time.Now()
	for _, rule := range rules {
		if err := netlink.RuleAdd(rule); err != nil {
			return err
		}
	}
	fmt.Println(float64(time.Since(start).Microseconds()) / 1000)
	return nil
}
