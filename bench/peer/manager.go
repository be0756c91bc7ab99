package main

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var (
	ruleKind   = schema.GroupVersionKind{Group: "api.operator.brtrm.dev", Version: "v1alpha1", Kind: "IPRule"}
	configKind = schema.GroupVersionKind{Group: "api.operator.brtrm.dev", Version: "v1alpha1", Kind: "IPRuleConfig"}
)

// The work of a controller of IPRules as one would write it with controller-runtime: caches of the three kinds, and one
// pass over all of them whenever any changes, which creates the objects that are missing.
type publisher struct{ client.Client }

type policy struct {
	prefix          netip.Prefix
	table, priority int64
}

func manage() error {
	ctrl.SetLogger(zap.New())
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	everything := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "all"}}}
	})
	err = ctrl.NewControllerManagedBy(manager).
		Named("publisher").
		Watches(&corev1.Service{}, everything).
		Watches(object(ruleKind), everything).
		Watches(object(configKind), everything).
		Complete(&publisher{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func object(kind schema.GroupVersionKind) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	return out
}

func (p *publisher) list(ctx context.Context, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	out := &unstructured.UnstructuredList{}
	out.SetGroupVersionKind(kind)
	err := p.List(ctx, out)
	return out.Items, err
}

func (p *publisher) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	policies, err := p.policies(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	configs, err := p.list(ctx, configKind)
	if err != nil {
		return reconcile.Result{}, err
	}
	published := map[string]bool{}
	for i := range configs {
		published[configs[i].GetName()] = true
	}
	var services corev1.ServiceList
	if err := p.List(ctx, &services); err != nil {
		return reconcile.Result{}, err
	}
	for i := range services.Items {
		for _, wanted := range objectsFor(&services.Items[i], policies) {
			if published[wanted.GetName()] {
				continue
			}
			if err := p.Create(ctx, wanted); err != nil && !apierrors.IsAlreadyExists(err) {
				return reconcile.Result{}, err
			}
		}
	}
	return reconcile.Result{}, nil
}

func (p *publisher) policies(ctx context.Context) ([]policy, error) {
	rules, err := p.list(ctx, ruleKind)
	if err != nil {
		return nil, err
	}
	var out []policy
	for i := range rules {
		cidrs, _, _ := unstructured.NestedStringSlice(rules[i].Object, "spec", "cidrs")
		table, _, _ := unstructured.NestedInt64(rules[i].Object, "spec", "table")
		priority, _, _ := unstructured.NestedInt64(rules[i].Object, "spec", "priority")
		for _, text := range cidrs {
			if prefix, err := netip.ParsePrefix(text); err == nil {
				out = append(out, policy{prefix, table, priority})
			}
		}
	}
	return out, nil
}

// The longest prefix that holds an address of the Service decides.
func objectsFor(service *corev1.Service, policies []policy) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		address, err := netip.ParseAddr(ingress.IP)
		if err != nil {
			continue
		}
		var best *policy
		for i := range policies {
			if policies[i].prefix.Contains(address) && (best == nil || policies[i].prefix.Bits() > best.prefix.Bits()) {
				best = &policies[i]
			}
		}
		if best == nil {
			continue
		}
		config := object(configKind)
		config.SetName(fmt.Sprintf("iprc-%s", strings.NewReplacer(".", "-", ":", "-").Replace(service.Spec.ClusterIP)))
		config.Object["spec"] = map[string]any{
			"serviceIP": service.Spec.ClusterIP, "table": best.table, "priority": best.priority, "state": "present",
		}
		out = append(out, config)
	}
	return out
}
