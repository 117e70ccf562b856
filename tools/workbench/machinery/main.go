// An API server made of the libraries that kube-apiserver is made of, to compare ours with: HTTP,
// verbs, storage in etcd, watch cache, streamed lists, protobuf, server-side apply, priority and
// fairness, admission policies, webhooks and CustomResourceDefinitions are Kubernetes' own. README.md
// says how it is built, and what it has not.
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes"
)

func main() {
	etcd := pflag.String("etcd", "http://127.0.0.1:2379", "address of etcd")
	port := pflag.Int("port", 26443, "port to serve on, on the loopback interface")
	directory := pflag.String("cert-dir", "certs", "where the certificate is made: apiserver.crt")
	token := pflag.String("token", "admin", "bearer token of the administrator, who may impersonate")
	run := genericoptions.NewServerRunOptions()
	run.AddUniversalFlags(pflag.CommandLine)
	pflag.Parse()
	fillScheme()
	must(run.ComponentGlobalsRegistry.Set())
	must(run.Complete())

	loopback := net.ParseIP("127.0.0.1")
	o := genericoptions.NewRecommendedOptions("/registry", nil)
	o.Etcd = genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", nil))
	o.Etcd.StorageConfig.Transport.ServerList = []string{*etcd}
	o.Etcd.DefaultStorageMediaType = "application/vnd.kubernetes.protobuf"
	o.SecureServing.BindPort = *port
	o.SecureServing.BindAddress = loopback
	// As many streams as kube-apiserver takes of one connection.
	o.SecureServing.HTTP2MaxStreamsPerConnection = 0
	o.SecureServing.ServerCert.CertDirectory = *directory
	o.SecureServing.ServerCert.PairName = "apiserver"
	must(o.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{loopback}))

	config := configured(run, o, *token)
	definitions, err := definitionsConfig(*config, *o).New(genericapiserver.NewEmptyDelegate())
	must(err)
	server, err := config.Complete().New("kube-apiserver", definitions.GenericAPIServer)
	must(err)
	install(server, config.RESTOptionsGetter)
	server.AddPostStartHookOrDie("namespaces", func(start genericapiserver.PostStartHookContext) error {
		return makeNamespaces(start, kubernetes.NewForConfigOrDie(config.LoopbackClientConfig))
	})
	fmt.Fprintf(os.Stderr, "serving on https://127.0.0.1:%d\n", *port)
	must(server.PrepareRun().RunWithContext(genericapiserver.SetupSignalContext()))
}

func install(server *genericapiserver.GenericAPIServer, getter generic.RESTOptionsGetter) {
	for version, resources := range stores(getter) {
		info := genericapiserver.NewDefaultAPIGroupInfo(version.Group, scheme, metav1.ParameterCodec, codecs)
		info.PrioritizedVersions = []schema.GroupVersion{version}
		info.VersionedResourcesStorageMap[version.Version] = resources
		if version.Group == "" {
			must(server.InstallLegacyAPIGroup("/api", &info))
		} else {
			must(server.InstallAPIGroup(&info))
		}
	}
}

func makeNamespaces(ctx context.Context, client kubernetes.Interface) error {
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}
