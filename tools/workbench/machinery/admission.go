package main

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// fillAdmission fills in the defaults without which admission does not work.
func fillAdmission(object runtime.Object) {
	switch o := object.(type) {
	case *admissionv1.ValidatingAdmissionPolicy:
		fillMatch(o.Spec.MatchConstraints)
		fill(&o.Spec.FailurePolicy, admissionv1.Fail)
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		fillMatch(o.Spec.MatchResources)
	case *admissionv1.MutatingAdmissionPolicy:
		fillMatch(o.Spec.MatchConstraints)
		fill(&o.Spec.FailurePolicy, admissionv1.Fail)
	case *admissionv1.MutatingAdmissionPolicyBinding:
		fillMatch(o.Spec.MatchResources)
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			hook := &o.Webhooks[i]
			fillHook(&hook.NamespaceSelector, &hook.ObjectSelector, &hook.FailurePolicy, &hook.MatchPolicy, &hook.TimeoutSeconds, hook.Rules)
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for i := range o.Webhooks {
			hook := &o.Webhooks[i]
			fillHook(&hook.NamespaceSelector, &hook.ObjectSelector, &hook.FailurePolicy, &hook.MatchPolicy, &hook.TimeoutSeconds, hook.Rules)
			fill(&hook.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		}
	}
}

func fill[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func fillSelectors(selectors ...**metav1.LabelSelector) {
	for _, each := range selectors {
		fill(each, metav1.LabelSelector{})
	}
}

func fillMatch(match *admissionv1.MatchResources) {
	if match == nil {
		return
	}
	fillSelectors(&match.NamespaceSelector, &match.ObjectSelector)
	fill(&match.MatchPolicy, admissionv1.Equivalent)
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range rules {
			fill(&rules[i].Scope, admissionv1.AllScopes)
		}
	}
}

func fillHook(namespaces, objects **metav1.LabelSelector, failure **admissionv1.FailurePolicyType, match **admissionv1.MatchPolicyType, seconds **int32, rules []admissionv1.RuleWithOperations) {
	fillSelectors(namespaces, objects)
	fill(failure, admissionv1.Fail)
	fill(match, admissionv1.Equivalent)
	fill(seconds, 10)
	for i := range rules {
		fill(&rules[i].Scope, admissionv1.AllScopes)
	}
}
