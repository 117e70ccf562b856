package main

import (
	"strings"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// kind is a built-in kind that is stored.
type kind struct {
	version    schema.GroupVersion
	name       string
	resource   string
	namespaced bool
	hasStatus  bool
}

// Of each line: the version, and kinds with their resources. "/" before a kind: it belongs to the
// cluster; "+" after a resource: it has a status.
const kindList = `
v1 /Namespace=namespaces+ /Node=nodes+ Pod=pods+ Event=events ConfigMap=configmaps Secret=secrets
v1 ServiceAccount=serviceaccounts Service=services+ Endpoints=endpoints ResourceQuota=resourcequotas+
v1 LimitRange=limitranges ReplicationController=replicationcontrollers+
v1 PersistentVolumeClaim=persistentvolumeclaims+ /PersistentVolume=persistentvolumes+
apps/v1 Deployment=deployments+ ReplicaSet=replicasets+ DaemonSet=daemonsets+ StatefulSet=statefulsets+
apps/v1 ControllerRevision=controllerrevisions
batch/v1 Job=jobs+ CronJob=cronjobs+
policy/v1 PodDisruptionBudget=poddisruptionbudgets+
coordination.k8s.io/v1 Lease=leases
events.k8s.io/v1 Event=events
rbac.authorization.k8s.io/v1 Role=roles RoleBinding=rolebindings
rbac.authorization.k8s.io/v1 /ClusterRole=clusterroles /ClusterRoleBinding=clusterrolebindings
storage.k8s.io/v1 /VolumeAttachment=volumeattachments+ /StorageClass=storageclasses
scheduling.k8s.io/v1 /PriorityClass=priorityclasses
discovery.k8s.io/v1 EndpointSlice=endpointslices
networking.k8s.io/v1 NetworkPolicy=networkpolicies
autoscaling/v2 HorizontalPodAutoscaler=horizontalpodautoscalers+
flowcontrol.apiserver.k8s.io/v1 /FlowSchema=flowschemas+ /PriorityLevelConfiguration=prioritylevelconfigurations+
admissionregistration.k8s.io/v1 /ValidatingWebhookConfiguration=validatingwebhookconfigurations
admissionregistration.k8s.io/v1 /MutatingWebhookConfiguration=mutatingwebhookconfigurations
admissionregistration.k8s.io/v1 /ValidatingAdmissionPolicy=validatingadmissionpolicies+
admissionregistration.k8s.io/v1 /ValidatingAdmissionPolicyBinding=validatingadmissionpolicybindings
admissionregistration.k8s.io/v1 /MutatingAdmissionPolicy=mutatingadmissionpolicies
admissionregistration.k8s.io/v1 /MutatingAdmissionPolicyBinding=mutatingadmissionpolicybindings`

// Sent only, never stored.
var sent = []kind{
	{version: schema.GroupVersion{Group: "policy", Version: "v1"}, name: "Eviction"},
	{version: schema.GroupVersion{Group: "authorization.k8s.io", Version: "v1"}, name: "SelfSubjectAccessReview"},
	{version: schema.GroupVersion{Group: "authorization.k8s.io", Version: "v1"}, name: "SubjectAccessReview"},
}

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
	kinds  = parsedKinds()
)

func parsedKinds() []kind {
	var all []kind
	for _, line := range strings.Split(strings.TrimSpace(kindList), "\n") {
		words := strings.Fields(line)
		version, err := schema.ParseGroupVersion(words[0])
		must(err)
		for _, word := range words[1:] {
			name, resource, _ := strings.Cut(word, "=")
			all = append(all, kind{
				version:    version,
				name:       strings.TrimPrefix(name, "/"),
				resource:   strings.TrimSuffix(resource, "+"),
				namespaced: !strings.HasPrefix(name, "/"),
				hasStatus:  strings.HasSuffix(resource, "+"),
			})
		}
	}
	return all
}

func (k kind) internal() schema.GroupVersion {
	return schema.GroupVersion{Group: k.version.Group, Version: runtime.APIVersionInternal}
}

func (k kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.version.Group, Resource: k.resource}
}

// object is an empty one of this kind, or a list of them.
func (k kind) object(suffix string) runtime.Object {
	made, err := scheme.New(k.version.WithKind(k.name + suffix))
	must(err)
	return made
}

// fillScheme registers the types that clients see as the internal ones too: nothing is converted.
func fillScheme() {
	must(clientscheme.AddToScheme(scheme))
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	must(metainternalversion.AddToScheme(scheme))
	for _, each := range kinds {
		must(scheme.SetVersionPriority(each.version))
		for _, suffix := range []string{"", "List"} {
			scheme.AddKnownTypeWithName(each.internal().WithKind(each.name+suffix), each.object(suffix))
		}
		asItIs := func(label, value string) (string, string, error) { return label, value, nil }
		must(scheme.AddFieldLabelConversionFunc(each.version.WithKind(each.name), asItIs))
	}
	for _, each := range sent {
		scheme.AddKnownTypeWithName(each.internal().WithKind(each.name), each.object(""))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
