// Gives every namespace the objects it has from the start, and keeps them there.
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller, type ControllerContext } from './controller.ts';
import { isTerminating } from './pods.ts';

const accountName = 'default';
const bundleName = 'kube-root-ca.crt';
const descriptionKey = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/**
 * Puts the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` into each namespace, and
 * restores them when they are changed or deleted. Work is keyed by namespace.
 */
export class PublishedObjects extends Controller {
  readonly #ca: string;

  /** `ca` is the certificate, PEM, by which clients know the API server. */
  constructor(context: ControllerContext, ca: string) {
    super(context);
    this.#ca = ca;
  }

  protected override begin(): void {
    for (const { metadata } of this.api.list('namespaces')) this.queue.add(metadata.name);
  }

  protected override notice({ type, resource, object }: Change): void {
    const { namespace = '', name } = object.metadata;
    if (resource === 'namespaces' && type === 'ADDED') this.queue.add(name);
    const isAccount = resource === 'serviceaccounts' && name === accountName;
    const isBundle = resource === 'configmaps' && name === bundleName;
    if (isBundle || (isAccount && type === 'DELETED')) this.queue.add(namespace);
  }

  protected override sync(name: string): void {
    const { api } = this;
    const home = api.get('namespaces', '', name);
    if (!home || isTerminating(home)) return;
    if (!api.get('serviceaccounts', name, accountName)) {
      api.create('serviceaccounts', { metadata: { name: accountName, namespace: name } });
    }
    const wanted = this.#bundle(name);
    const bundle = api.get('configmaps', name, bundleName);
    if (!bundle) api.create('configmaps', wanted);
    else if (!isRight(bundle, wanted)) {
      const { annotations } = wanted.metadata;
      const metadata = {
        ...bundle.metadata,
        annotations: { ...bundle.metadata.annotations, ...annotations },
      };
      api.update('configmaps', { ...bundle, metadata, data: wanted.data });
    }
  }

  #bundle(namespace: string): KubeObject {
    const annotations = { [descriptionKey]: description };
    return {
      metadata: { name: bundleName, namespace, annotations },
      data: { 'ca.crt': this.#ca },
    };
  }
}

function isRight(bundle: KubeObject, wanted: KubeObject): boolean {
  const said = bundle.metadata.annotations?.[descriptionKey];
  return said === description && equal(bundle.data, wanted.data);
}
