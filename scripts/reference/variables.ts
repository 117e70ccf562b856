// The environment variables that our programs read, beside those of the controller's flags.

export interface Variable {
  readonly name: string;
  readonly who: 'both' | 'kubectl taintmgr' | 'taintmgr-controller';
  readonly what: string;
}

/** A test holds the names against the source. */
export const variables: readonly Variable[] = [
  {
    name: 'KUBECONFIG',
    who: 'both',
    what: 'Kubeconfig files, separated as in `PATH`, merged as kubectl merges them; `~/.kube/config` where it is empty',
  },
  {
    name: 'KUBERNETES_SERVICE_HOST',
    who: 'both',
    what: 'In a pod: where the API server is. With it and without a kubeconfig the service account is used',
  },
  {
    name: 'KUBERNETES_SERVICE_PORT',
    who: 'both',
    what: 'In a pod: its port; 443 where it is missing',
  },
  {
    name: 'HTTPS_PROXY',
    who: 'both',
    what: 'Proxy to an API server at https; `proxy-url` of the kubeconfig counts before it. Small letters do as well',
  },
  {
    name: 'HTTP_PROXY',
    who: 'both',
    what: 'The same for one at http',
  },
  {
    name: 'NO_PROXY',
    who: 'both',
    what: 'Hosts, domains, addresses and ranges that are reached without a proxy, separated by commas',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    who: 'taintmgr-controller',
    what: 'Collector to which traces of evictions are sent, where `--otlp-endpoint` names none; other variables of OpenTelemetry: [traces](../tracing.md)',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    who: 'taintmgr-controller',
    what: 'The same, with the path',
  },
  {
    name: 'OTEL_SDK_DISABLED',
    who: 'taintmgr-controller',
    what: '`true`: no traces',
  },
  {
    name: 'NO_COLOR',
    who: 'kubectl taintmgr',
    what: 'Anything but empty: no colours, unless `--color` asks for them',
  },
  {
    name: 'TERM',
    who: 'kubectl taintmgr',
    what: '`dumb`: no colours, and no lines that are written again',
  },
  {
    name: 'PATH',
    who: 'kubectl taintmgr',
    what: 'Where `completion install` puts the completion: beside the plugin',
  },
  {
    name: 'NODE_DISABLE_COMPILE_CACHE',
    who: 'kubectl taintmgr',
    what: 'Anything but empty: no compiled code is kept from one run to the next',
  },
  {
    name: 'XDG_CACHE_HOME',
    who: 'kubectl taintmgr',
    what: 'Where compiled code is kept; `~/.cache` (macOS: `~/Library/Caches`) where it is empty',
  },
  {
    name: 'LOCALAPPDATA',
    who: 'kubectl taintmgr',
    what: 'The same on Windows',
  },
];
