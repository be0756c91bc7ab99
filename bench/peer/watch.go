package main

import (
	"fmt"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// The instant at which the bench wrote the object, in nanoseconds since the epoch.
const stamp = "bench/at"

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func watch(kubeconfig string, events int, contentType string) error {
	start := time.Now()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = contentType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	// Noted where the handler is called, as our own program does, and counted from the first one.
	var before time.Duration
	seen := make([]time.Duration, 0, events)
	hasAll := make(chan struct{})
	factory := informers.NewSharedInformerFactory(client, 0)
	services := factory.Core().V1().Services().Informer()
	_, err = services.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, changed any) {
			at, err := strconv.ParseInt(changed.(*corev1.Service).Annotations[stamp], 10, 64)
			if err != nil || len(seen) == events {
				return
			}
			if len(seen) == 0 {
				before = processorTime()
			}
			if seen = append(seen, time.Since(time.Unix(0, at))); len(seen) == events {
				close(hasAll)
			}
		},
	})
	if err != nil {
		return err
	}
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	fmt.Println("synced", float64(time.Since(start).Microseconds())/1000)
	fmt.Println("processor", float64(processorTime().Microseconds())/1000)

	<-hasAll
	used := processorTime() - before
	sort.Slice(seen, func(i, j int) bool { return seen[i] < seen[j] })
	fmt.Println("events", float64(seen[events/2].Microseconds())/1000, float64(seen[events*99/100].Microseconds())/1000,
		float64(used.Microseconds())/1000/float64(events))

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	return nil
}
