package main

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	extensionsoptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	extensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	webhookinitializer "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kube-openapi/pkg/common"
	"machinery/openapi"
)

func configured(run *genericoptions.ServerRunOptions, o *genericoptions.RecommendedOptions, token string) *genericapiserver.RecommendedConfig {
	config := genericapiserver.NewRecommendedConfig(codecs)
	must(run.ApplyTo(&config.Config))
	config.LongRunningFunc = func(_ *http.Request, info *request.RequestInfo) bool { return info.Verb == "watch" }
	must(o.SecureServing.ApplyToConfig(&config.Config))
	must(o.Etcd.ApplyWithStorageFactoryTo(storageFactory(run, o, config), &config.Config))

	config.Authentication.Authenticator = bearertoken.New(tokens(token, config.LoopbackClientConfig.BearerToken))
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	config.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis")

	client := kubernetes.NewForConfigOrDie(config.LoopbackClientConfig)
	config.ClientConfig = config.LoopbackClientConfig
	config.SharedInformerFactory = informers.NewSharedInformerFactory(client, 10*time.Minute)
	must(o.Features.ApplyTo(&config.Config, client, config.SharedInformerFactory))
	hooks := webhookinitializer.NewPluginInitializer(authentication(config), webhook.NewDefaultServiceResolver())
	must(o.Admission.ApplyTo(&config.Config, config.SharedInformerFactory, client,
		dynamic.NewForConfigOrDie(config.LoopbackClientConfig), o.FeatureGate, config.EffectiveVersion, hooks))

	namer := openapinamer.NewDefinitionNamer(scheme, extensions.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitionsOf, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitionsOf, namer)
	return config
}

// storageFactory keeps each kind in the version that it is served in.
func storageFactory(run *genericoptions.ServerRunOptions, o *genericoptions.RecommendedOptions, config *genericapiserver.RecommendedConfig) serverstorage.StorageFactory {
	resources := serverstorage.NewResourceConfig()
	resources.EnableVersions(reviews)
	version := run.ComponentGlobalsRegistry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent)
	encoding := serverstorage.NewDefaultResourceEncodingConfigForEffectiveVersion(scheme, version)
	for _, each := range kinds {
		resources.EnableVersions(each.version)
		encoding.SetResourceEncoding(each.groupResource(), each.version, each.internal())
	}
	config.MergedResourceConfig = resources
	// Events of the two groups are of two types, which nothing here converts.
	apart := map[schema.GroupResource]string{{Group: "events.k8s.io", Resource: "events"}: "newevents"}
	return serverstorage.NewDefaultStorageFactory(o.Etcd.StorageConfig, o.Etcd.DefaultStorageMediaType, codecs, encoding, resources, apart)
}

func tokens(ofAdmin, ofServer string) authenticator.TokenFunc {
	return func(_ context.Context, token string) (*authenticator.Response, bool, error) {
		groups := []string{user.SystemPrivilegedGroup, user.AllAuthenticated}
		switch token {
		case ofAdmin:
			return &authenticator.Response{User: &user.DefaultInfo{Name: "admin", Groups: groups}}, true, nil
		case ofServer:
			return &authenticator.Response{User: &user.DefaultInfo{Name: user.APIServerUser, Groups: groups}}, true, nil
		}
		return nil, false, nil
	}
}

func authentication(config *genericapiserver.RecommendedConfig) webhook.AuthenticationInfoResolverWrapper {
	return webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, config.LoopbackClientConfig, noop.NewTracerProvider())
}

func definitionsOf(reference common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := openapi.GetOpenAPIDefinitions(reference)
	for name, each := range extensionsopenapi.GetOpenAPIDefinitions(reference) {
		all[name] = each
	}
	return all
}

// definitionsConfig is that of the server of CustomResourceDefinitions, which is asked next.
func definitionsConfig(config genericapiserver.RecommendedConfig, o genericoptions.RecommendedOptions) extensions.CompletedConfig {
	version := schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}
	etcd := *o.Etcd
	etcd.StorageConfig.Codec = extensions.Codecs.LegacyCodec(version, schema.GroupVersion{Group: version.Group, Version: "v1beta1"})
	etcd.StorageConfig.EncodeVersioner = runtime.NewMultiGroupVersioner(version, schema.GroupKind{Group: version.Group})
	config.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	must(etcd.ApplyTo(&config.Config))
	config.MergedResourceConfig = extensions.DefaultAPIResourceConfigSource()
	c := &extensions.Config{
		GenericConfig: &config,
		ExtraConfig: extensions.ExtraConfig{
			CRDRESTOptionsGetter: extensionsoptions.NewCRDRESTOptionsGetter(etcd, config.ResourceTransformers, config.StorageObjectCountTracker),
			MasterCount:          1,
			ServiceResolver:      webhook.NewDefaultServiceResolver(),
			AuthResolverWrapper:  authentication(&config),
		},
	}
	return c.Complete()
}
