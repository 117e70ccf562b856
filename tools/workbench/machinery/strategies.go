package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
)

// strategy is the least that a kind needs: all values are valid, and a status is changed by its
// subresource alone.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	kind
	ofStatus bool
}

func (s strategy) NamespaceScoped() bool                                                 { return s.namespaced }
func (s strategy) AllowCreateOnUpdate() bool                                             { return s.name == "Lease" || s.name == "Event" }
func (s strategy) AllowUnconditionalUpdate() bool                                        { return true }
func (s strategy) Canonicalize(runtime.Object)                                           {}
func (s strategy) Validate(context.Context, runtime.Object) field.ErrorList              { return nil }
func (s strategy) ValidateUpdate(_ context.Context, _, _ runtime.Object) field.ErrorList { return nil }
func (s strategy) WarningsOnCreate(context.Context, runtime.Object) []string             { return nil }
func (s strategy) WarningsOnUpdate(_ context.Context, _, _ runtime.Object) []string      { return nil }

func (s strategy) PrepareForCreate(_ context.Context, object runtime.Object) {
	fillAdmission(object)
	if pod, ok := object.(*corev1.Pod); ok {
		fillPod(pod)
	}
}

func (s strategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	fillAdmission(object)
	if !s.hasStatus {
		return
	}
	kept := "Status"
	if s.ofStatus {
		kept = "Spec"
	}
	value := reflect.ValueOf(object).Elem().FieldByName(kept)
	if value.IsValid() {
		value.Set(reflect.ValueOf(old).Elem().FieldByName(kept))
	}
}

// statusStore is a status as a subresource: read and written, never made.
type statusStore struct{ store *genericregistry.Store }

func (s *statusStore) New() runtime.Object { return s.store.New() }
func (s *statusStore) Destroy()            {}
func (s *statusStore) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}
func (s *statusStore) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, onCreate rest.ValidateObjectFunc, onUpdate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, onCreate, onUpdate, false, options)
}
func (s *statusStore) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, object, options)
}

// stores are all resources by their versions and names.
func stores(getter generic.RESTOptionsGetter) map[schema.GroupVersion]map[string]rest.Storage {
	all := map[schema.GroupVersion]map[string]rest.Storage{reviews: {
		"selfsubjectaccessreviews": &review{name: "SelfSubjectAccessReview"},
		"subjectaccessreviews":     &review{name: "SubjectAccessReview"},
	}}
	eviction := &evictions{}
	for _, each := range kinds {
		store := storeOf(each, getter)
		if all[each.version] == nil {
			all[each.version] = map[string]rest.Storage{}
		}
		all[each.version][each.resource] = store
		if !each.hasStatus {
			continue
		}
		status := *store
		status.UpdateStrategy = strategy{scheme, names.SimpleNameGenerator, each, true}
		all[each.version][each.resource+"/status"] = &statusStore{&status}
		switch each.name {
		case "Pod":
			eviction.pods = &status
		case "PodDisruptionBudget":
			eviction.budgets = &status
		}
	}
	all[corev1.SchemeGroupVersion]["pods/eviction"] = eviction
	return all
}

func storeOf(each kind, getter generic.RESTOptionsGetter) *genericregistry.Store {
	plain := strategy{scheme, names.SimpleNameGenerator, each, false}
	resource := each.groupResource()
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return each.object("") },
		NewListFunc:               func() runtime.Object { return each.object("List") },
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: schema.GroupResource{Group: resource.Group, Resource: strings.ToLower(each.name)},
		PredicateFunc: func(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
			return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: attributes}
		},
		CreateStrategy: plain, UpdateStrategy: plain, DeleteStrategy: plain,
		TableConvertor: rest.NewDefaultTableConvertor(resource),
	}
	switch each.name {
	case "Pod":
		store.DeleteStrategy = podStrategy{plain}
		store.ReturnDeletedObject = true
	case "Event":
		store.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return 3600, nil }
	}
	must(store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter, AttrFunc: attributes}))
	return store
}

// attributes are what selectors select by.
func attributes(object runtime.Object) (labels.Set, fields.Set, error) {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, nil, err
	}
	set := fields.Set{"metadata.name": metadata.GetName(), "metadata.namespace": metadata.GetNamespace()}
	switch o := object.(type) {
	case *corev1.Pod:
		set["spec.nodeName"], set["status.phase"] = o.Spec.NodeName, string(o.Status.Phase)
		set["spec.schedulerName"], set["spec.serviceAccountName"] = o.Spec.SchedulerName, o.Spec.ServiceAccountName
	case *corev1.Node:
		set["spec.unschedulable"] = fmt.Sprint(o.Spec.Unschedulable)
	case *corev1.Event:
		about := o.InvolvedObject
		set["involvedObject.kind"], set["involvedObject.name"] = about.Kind, about.Name
		set["involvedObject.namespace"], set["involvedObject.uid"] = about.Namespace, string(about.UID)
		set["reason"], set["type"], set["source"] = o.Reason, o.Type, o.Source.Component
	}
	return metadata.GetLabels(), set, nil
}
