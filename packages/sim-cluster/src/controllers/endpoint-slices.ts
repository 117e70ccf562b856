import { hash } from '../kernel/hash.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { labelSelectorRequirements, matchesLabels, type Requirement } from '../selectors/labels.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { isReady, isTerminal, isTerminating, keyOf, splitKey } from './pods.ts';

const resource = 'endpointslices';
const serviceLabel = 'kubernetes.io/service-name';
/** The greatest number of endpoints in one slice. */
const sliceMax = 100;
const gatherMs = 5;
const followed = new Set(['pods', 'services']);

/** A Service and the pods that its selector matches, by key, as endpoints. */
interface Tracked {
  readonly requirements: readonly Requirement[];
  readonly endpoints: Map<string, Endpoint>;
  /** The slice of each endpoint: it stays where it is. */
  readonly places: Map<string, number>;
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: Readonly<Record<'ready' | 'serving' | 'terminating', boolean>>;
  readonly nodeName: string;
  readonly targetRef: object;
}

/**
 * Writes the endpoints of Services: the pods that the selector matches and that have an address and
 * have not ended; terminating pods are listed as terminating. As kube-controller-manager does, for
 * Services with a selector. Work is keyed by Service.
 */
export class EndpointSlices extends Controller {
  /** By namespace, then by key. */
  readonly #services = new Map<string, Map<string, Tracked>>();

  constructor(context: ConstructorParameters<typeof Controller>[0]) {
    super(context, gatherMs);
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    this.#services.clear();
    for (const service of this.api.list('services')) this.#track(service);
  }

  protected override notice({ type, resource: changed, key, object, previous }: Change): void {
    const { namespace = '' } = object.metadata;
    if (changed === 'services') {
      if (type === 'DELETED') this.#forget(key, namespace);
      else if (!previous || !equal(previous.spec?.selector, object.spec?.selector)) {
        this.#track(object);
      }
      return;
    }
    const services = this.#services.get(namespace);
    if (!services) return;
    for (const [serviceKey, tracked] of services) {
      if (noteEndpoint(tracked, key, type === 'DELETED' ? null : object)) {
        this.queue.add(serviceKey);
      }
    }
  }

  #forget(key: string, namespace: string): void {
    const services = this.#services.get(namespace);
    services?.delete(key);
    if (services?.size === 0) this.#services.delete(namespace);
  }

  #track(service: KubeObject): void {
    const { namespace = '' } = service.metadata;
    const key = keyOf(service);
    this.#forget(key, namespace);
    const requirements = labelSelectorRequirements({ matchLabels: service.spec?.selector });
    if (!requirements || requirements.length === 0) return;
    const tracked: Tracked = { requirements, endpoints: new Map(), places: new Map() };
    for (const pod of this.api.list('pods', namespace)) noteEndpoint(tracked, keyOf(pod), pod);
    const services = this.#services.get(namespace) ?? new Map<string, Tracked>();
    this.#services.set(namespace, services.set(key, tracked));
    this.queue.add(key);
  }

  protected override sync(key: string): void {
    const { api } = this;
    const [namespace] = splitKey(key);
    const service = api.find('services', key);
    const tracked = this.#services.get(namespace)?.get(key);
    if (!service || !tracked || isTerminating(service)) return;
    const home = api.get('namespaces', '', namespace);
    for (const [index, endpoints] of slicesOf(tracked).entries()) {
      const slice = sliceOf(service, index, endpoints);
      const stored = api.get(resource, namespace, slice.metadata.name);
      if (stored && endpoints.length === 0 && index > 0) {
        api.delete(resource, namespace, slice.metadata.name, { uid: stored.metadata.uid ?? '' });
      } else if (stored) {
        if (!equal(stored.endpoints, endpoints)) api.update(resource, { ...stored, endpoints });
      } else if ((endpoints.length > 0 || index === 0) && home && !isTerminating(home)) {
        api.create(resource, slice);
      }
    }
  }
}

/** Takes a pod in the state that it has now (null: it is gone); returns whether endpoints have changed. */
function noteEndpoint(tracked: Tracked, key: string, pod: KubeObject | null): boolean {
  const before = tracked.endpoints.get(key);
  const isSelected = pod && matchesLabels(tracked.requirements, pod.metadata.labels ?? {});
  const endpoint = isSelected ? endpointOf(pod) : null;
  if (!endpoint) return tracked.endpoints.delete(key);
  if (before && equal(before, endpoint)) return false;
  tracked.endpoints.set(key, endpoint);
  return true;
}

function endpointOf(pod: KubeObject): Endpoint | null {
  const ip: string | undefined = pod.status?.podIP;
  if (!ip || isTerminal(pod)) return null;
  const { name, namespace = '', uid = '' } = pod.metadata;
  const [serving, terminating] = [isReady(pod), isTerminating(pod)];
  return {
    addresses: [ip],
    conditions: { ready: serving && !terminating, serving, terminating },
    nodeName: pod.spec.nodeName ?? '',
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/** The endpoints slice by slice; new ones go where there is room. */
function slicesOf({ endpoints, places }: Tracked): readonly (readonly Endpoint[])[] {
  for (const key of places.keys()) if (!endpoints.has(key)) places.delete(key);
  const sizes: number[] = [];
  for (const place of places.values()) sizes[place] = (sizes[place] ?? 0) + 1;
  for (const key of endpoints.keys()) {
    if (places.has(key)) continue;
    let place = 0;
    while ((sizes[place] ?? 0) >= sliceMax) place++;
    sizes[place] = (sizes[place] ?? 0) + 1;
    places.set(key, place);
  }
  // One more slice than exist: the endpoints of the last one may be gone.
  const slices: Endpoint[][] = Array.from({ length: Math.max(1, sizes.length) + 1 }, () => []);
  for (const [key, endpoint] of endpoints) slices[places.get(key) ?? 0]?.push(endpoint);
  return slices;
}

interface Port {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  readonly targetPort?: number | string;
}

function sliceOf(service: KubeObject, index: number, endpoints: readonly Endpoint[]): KubeObject {
  const { name, namespace = '', uid = '' } = service.metadata;
  const ports: readonly Port[] = service.spec.ports ?? [];
  const suffix = hash(`${uid}/${index}`).toString(36).padStart(5, '0').slice(-5);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${suffix}`,
      namespace,
      labels: {
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        [serviceLabel]: name,
      },
      ownerReferences: [
        {
          ...{ apiVersion: 'v1', kind: 'Service', name, uid },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    },
    addressType: 'IPv4',
    endpoints,
    ports: ports.map((port) => ({
      name: port.name ?? '',
      protocol: port.protocol ?? 'TCP',
      port: typeof port.targetPort === 'number' ? port.targetPort : port.port,
    })),
  };
}
