package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Server-side applies of as many ConfigMaps by some workers over one client, without a limit of its own.
func apply(kubeconfig string, count, workers int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100000, 100000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps("default")
	ctx := context.Background()
	if _, err := maps.List(ctx, metav1.ListOptions{Limit: 1}); err != nil { // The connection is there before the clock runs.
		return err
	}
	numbers := make(chan int, count)
	for i := range count {
		numbers <- i
	}
	close(numbers)
	failures := make(chan error, count)
	start := time.Now()
	var group sync.WaitGroup
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range numbers {
				wanted := v1.ConfigMap(fmt.Sprintf("peer-%d", i), "default").WithData(map[string]string{"value": start.String()})
				if _, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "peer", Force: true}); err != nil {
					failures <- err
				}
			}
		}()
	}
	group.Wait()
	fmt.Println("applied", float64(time.Since(start).Microseconds())/1000)
	if len(failures) > 0 {
		return <-failures
	}
	return nil
}
