package main

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

func fillPod(pod *corev1.Pod) {
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
	pod.Generation = 1
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort}
}

type podStrategy struct{ strategy }

// CheckGracefulDelete: a pod has its grace, and none where no kubelet would end it.
func (s podStrategy) CheckGracefulDelete(_ context.Context, object runtime.Object, options *metav1.DeleteOptions) bool {
	pod := object.(*corev1.Pod)
	seconds := int64(0)
	if options.GracePeriodSeconds != nil {
		seconds = *options.GracePeriodSeconds
	} else if pod.Spec.TerminationGracePeriodSeconds != nil {
		seconds = *pod.Spec.TerminationGracePeriodSeconds
	}
	if pod.Spec.NodeName == "" || hasEnded(pod) {
		seconds = 0
	}
	if seconds < 0 {
		seconds = 1
	}
	options.GracePeriodSeconds = &seconds
	return true
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// evictions is pods/eviction: a budget is spent, the pod is marked, then deleted.
type evictions struct{ pods, budgets *genericregistry.Store }

func (e *evictions) New() runtime.Object { return &policyv1.Eviction{} }
func (e *evictions) Destroy()            {}
func (e *evictions) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return policyv1.SchemeGroupVersion.WithKind("Eviction")
}
func (e *evictions) AcceptsGroupVersion(version schema.GroupVersion) bool {
	return version == policyv1.SchemeGroupVersion
}

func (e *evictions) Create(ctx context.Context, name string, object runtime.Object, _ rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	asked := object.(*policyv1.Eviction).DeleteOptions
	if asked == nil {
		asked = &metav1.DeleteOptions{}
	}
	if len(asked.DryRun) == 0 {
		asked.DryRun = options.DryRun
	}
	found, err := e.pods.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pod := found.(*corev1.Pod)
	counts := !hasEnded(pod) && pod.Status.Phase != corev1.PodPending && pod.DeletionTimestamp.IsZero()
	if counts {
		if err := e.spend(ctx, pod, len(asked.DryRun) > 0); err != nil {
			return nil, err
		}
	}
	if len(asked.DryRun) == 0 {
		marked := rest.DefaultUpdatedObjectInfo(pod, mark)
		if _, _, err := e.pods.Update(ctx, name, marked, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
			return nil, err
		}
	}
	if _, _, err := e.pods.Delete(ctx, name, rest.ValidateAllObjectFunc, asked); err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess, Code: 201}, nil
}

func mark(_ context.Context, object, _ runtime.Object) (runtime.Object, error) {
	pod := object.DeepCopyObject().(*corev1.Pod)
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
	})
	return pod, nil
}

func (e *evictions) spend(ctx context.Context, pod *corev1.Pod, isDryRun bool) error {
	list, err := e.budgets.List(ctx, &metainternalversion.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for _, budget := range list.(*policyv1.PodDisruptionBudgetList).Items {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if budget.Status.DisruptionsAllowed <= 0 {
			return refusal(&budget)
		}
		if isDryRun {
			continue
		}
		spent := budget.DeepCopy()
		spent.Status.DisruptionsAllowed--
		if spent.Status.DisruptedPods == nil {
			spent.Status.DisruptedPods = map[string]metav1.Time{}
		}
		spent.Status.DisruptedPods[pod.Name] = metav1.Now()
		if _, _, err := e.budgets.Update(ctx, spent.Name, rest.DefaultUpdatedObjectInfo(spent), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func refusal(budget *policyv1.PodDisruptionBudget) error {
	status := budget.Status
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    policyv1.DisruptionBudgetCause,
		Message: fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", budget.Name, status.DesiredHealthy, status.CurrentHealthy),
	})
	return err
}

var reviews = authorizationv1.SchemeGroupVersion

// review says that everybody may do everything, as is the case here.
type review struct{ name string }

func (r *review) New() runtime.Object {
	made, err := scheme.New(reviews.WithKind(r.name))
	must(err)
	return made
}
func (r *review) Destroy()                {}
func (r *review) NamespaceScoped() bool   { return false }
func (r *review) GetSingularName() string { return r.name }
func (r *review) Create(_ context.Context, object runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	switch asked := object.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		asked.Status.Allowed = true
	case *authorizationv1.SubjectAccessReview:
		asked.Status.Allowed = true
	}
	return object, nil
}
