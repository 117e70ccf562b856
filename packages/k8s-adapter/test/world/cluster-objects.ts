/** A node as the API sends it, with NoExecute taints of these keys. */
export function nodeJson(name: string, resourceVersion: string, ...taints: string[]): object {
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, uid: `uid-${name}`, resourceVersion },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
  };
}

/** A pod as the API sends it, in namespace shop and without tolerations. */
export function podJson(name: string, nodeName: string, resourceVersion: string): object {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion, generation: 1 },
    spec: { nodeName },
    status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z' },
  };
}

/** A list of such objects as the API sends it. */
export function listJson(
  kind: 'Node' | 'Pod',
  resourceVersion: string,
  ...items: object[]
): object {
  return { kind: `${kind}List`, apiVersion: 'v1', metadata: { resourceVersion }, items };
}

const kinds: Readonly<Record<string, string>> = {
  ...{ namespaces: 'Namespace', nodes: 'Node', pods: 'Pod', leases: 'Lease' },
  ...{ daemonsets: 'DaemonSet', nodetaintrules: 'NodeTaintRule', nodedrains: 'NodeDrain' },
  ...{ evictionpolicies: 'EvictionPolicy', evictionpauses: 'EvictionPause' },
  taintmanagers: 'TaintManager',
};

/** What a GET of the collection at this path is answered with. */
export function listAt(path: string, resourceVersion: string, ...items: object[]): object {
  const [, apiVersion, resource = ''] = /^\/apis?\/(.*?v\d\w*)\/(?:.*\/)?(\w+)/.exec(path) ?? [];
  const kind = `${kinds[resource]}List`;
  return { kind, apiVersion, metadata: { resourceVersion }, items };
}
