// A cluster of a million pods, of which the feeder makes each object when it is asked for: objects with marks in the place of
// what differs between them, templates of their bytes, and a few numbers for each object.
import { encodeFrame } from '@taintmgr/api-server';
import { hex } from '../cluster-objects.ts';

/** The placeholders. Each is as wide as the value that replaces it. */
const marks = {
  version: '9999999999',
  app: '@ap',
  suffix: '@suff',
  namespace: '@m',
  node: '@node',
  uid: '@uid-uid-uid',
  zone: '@z',
} as const;

const past = '2026-01-01T00:00:00Z';
const image = 'registry.example.com/shop/service';

/**
 * The entry of a manager in an object's managedFields, about as long as kubelets and controllers
 * leave it.
 */
function managed(manager: string, fields: number, subresource?: string): object {
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: past,
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:status': Object.fromEntries(
        Array.from({ length: fields }, (_, at) => [
          `k:{"type":"Condition${at}"}`,
          { '.': {}, 'f:lastTransitionTime': {}, 'f:status': {} },
        ]),
      ),
    },
    ...(subresource && { subresource }),
  };
}

function toleration(name: string, tolerationSeconds: number): object {
  const key = `node.kubernetes.io/${name}`;
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
}

/** The state of a pod at a time. */
interface PodState {
  readonly isReady: boolean;
  /** A client is about to remove it. */
  readonly isMarked: boolean;
}

/**
 * A pod with placeholders: about 5 kB of JSON. The pod stays on a lost node for so many seconds.
 */
function markedPod({ isReady, isMarked }: PodState, tolerationSeconds: number): object {
  const name = `service-${marks.app}-7d9c5b8f6b-${marks.suffix}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `service-${marks.app}-7d9c5b8f6b-`,
      namespace: `team-${marks.namespace}-production`,
      uid: `5c1d4f3e-9a77-4e21-8f00-${marks.uid}`,
      resourceVersion: marks.version,
      generation: 1,
      creationTimestamp: past,
      labels: {
        app: `service-${marks.app}`,
        'pod-template-hash': '7d9c5b8f6b',
        'app.kubernetes.io/name': `service-${marks.app}`,
        'app.kubernetes.io/part-of': 'shop',
        'app.kubernetes.io/managed-by': 'Helm',
        'topology.kubernetes.io/region': 'eu-central-1',
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '9090',
        'checksum/config': hex(7919, 64),
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `service-${marks.app}-7d9c5b8f6b`,
          uid: `00000000-0000-4000-8000-000000000${marks.app}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [managed('kube-controller-manager', 6), managed('kubelet', 8, 'status')],
    },
    spec: podSpec(tolerationSeconds),
    status: podStatus(isReady, isMarked),
  };
}

function podSpec(tolerationSeconds: number): object {
  const token = { name: 'kube-api-access-x7k2p', readOnly: true };
  return {
    volumes: [
      {
        name: token.name,
        projected: {
          sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }],
          defaultMode: 420,
        },
      },
      { name: 'config', configMap: { name: `service-${marks.app}`, defaultMode: 420 } },
    ],
    containers: [`service-${marks.app}`, 'proxy'].map((name) => ({
      name,
      image: `${image}-${name}:1.2.3`,
      ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
      env: ['POD_IP', 'HOST_IP'].map((variable) => ({
        name: variable,
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } },
      })),
      resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
      volumeMounts: [{ ...token, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
      readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 10 },
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    })),
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    serviceAccount: 'default',
    nodeName: nodeName,
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((name) => toleration(name, tolerationSeconds)),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

function podStatus(isReady: boolean, isMarked: boolean): object {
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];
  const conditions = [...types, 'PodScheduled'].map((type) => ({
    type,
    status: isReady || !type.endsWith('Ready') ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: past,
  }));
  const mark = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };
  return {
    phase: 'Running',
    conditions: isMarked ? [...conditions, { ...mark, lastTransitionTime: past }] : conditions,
    hostIP: '10.0.17.1',
    podIP: '10.128.17.25',
    podIPs: [{ ip: '10.128.17.25' }],
    startTime: past,
    containerStatuses: [`service-${marks.app}`, 'proxy'].map((name) => ({
      name,
      state: { running: { startedAt: past } },
      lastState: {},
      ready: isReady,
      restartCount: 0,
      image: `${image}-${name}:1.2.3`,
      imageID: `${image}@sha256:${hex(4711, 64)}`,
      containerID: `containerd://${hex(815, 64)}`,
      started: true,
    })),
    qosClass: 'Burstable',
  };
}

/** The name of a node with a mark. */
const nodeName: string = `ip-10-${marks.node}-17.eu-central-1.compute.internal`;

const nodeConditions = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** A node with marks, as its kubelet reports it at a time: about 10 kB of JSON. */
function markedNode(now: string): object {
  const labels = {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'm7i.4xlarge',
    'topology.kubernetes.io/region': 'eu-central-1',
    'topology.kubernetes.io/zone': `eu-central-1-${marks.zone}`,
    'topology.ebs.csi.aws.com/zone': `eu-central-1-${marks.zone}`,
    'example.com/nodegroup': 'general',
    'example.com/capacity-type': 'on-demand',
    'example.com/image-id': 'ami-0123456789abcdef0',
  };
  const amounts = {
    cpu: '16',
    memory: '64761004Ki',
    pods: '110',
    'ephemeral-storage': '104845292Ki',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      uid: `1d2c3b4a-1111-4000-8000-${marks.uid}`,
      resourceVersion: marks.version,
      creationTimestamp: past,
      labels,
      annotations: {
        'csi.volume.kubernetes.io/nodeid': '{"ebs.csi.aws.com":"i-0123456789abcdef0"}',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
      managedFields: [
        managed('kubelet', 4),
        managed('kube-controller-manager', 4),
        managed('kubelet', 14, 'status'),
      ],
    },
    spec: {
      podCIDR: '10.128.17.0/24',
      podCIDRs: ['10.128.17.0/24'],
      providerID: `aws:///${hex(1, 17)}`,
    },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: nodeConditions.map(([type, status, reason, message]) => ({
        type,
        status,
        lastHeartbeatTime: now,
        lastTransitionTime: past,
        reason,
        message,
      })),
      addresses: [
        { type: 'InternalIP', address: '10.0.17.1' },
        { type: 'Hostname', address: nodeName },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: hex(17, 32),
        systemUUID: hex(18, 32),
        bootID: hex(19, 32),
        kernelVersion: '6.1.0-27-cloud-amd64',
        osImage: 'Debian GNU/Linux 12 (bookworm)',
        containerRuntimeVersion: 'containerd://1.7.27',
        kubeletVersion: 'v1.36.2',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: Array.from({ length: 30 }, (_, at) => ({
        names: [`${image}-${at}@sha256:${hex(at, 64)}`, `${image}-${at}:1.2.3`],
        sizeBytes: 104_857_600 + at,
      })),
    },
  };
}

/** The lease of a node with marks, renewed at a time. */
function markedLease(now: string): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: nodeName,
      namespace: 'kube-node-lease',
      uid: `2e3d4c5b-2222-4000-8000-${marks.uid}`,
      resourceVersion: marks.version,
      creationTimestamp: past,
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Node',
          name: nodeName,
          uid: `1d2c3b4a-1111-4000-8000-${marks.uid}`,
        },
      ],
    },
    spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime: now },
  };
}

// Bytes of an API object with places that are filled in: how a feeder makes a million objects
// without holding any. A place is a mark of fixed width that stands in the object wherever its value
// does, in JSON and in protobuf alike.

/** The values by the marks that stand for them; a value is as wide as its mark. */
type Values = Readonly<Record<string, string>>;

interface Place {
  readonly mark: string;
  readonly at: number;
}

/** An object, as bytes, with places. */
class Template {
  readonly #bytes: Buffer;
  readonly #places: readonly Place[];

  /** Throws where a mark does not stand in the bytes. */
  constructor(bytes: Uint8Array, marks: readonly string[]) {
    this.#bytes = Buffer.from(bytes);
    this.#places = marks.flatMap((mark) => this.#placesOf(mark));
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** The object with these values, ready to be sent. */
  fill(values: Values): Buffer {
    const filled = Buffer.from(this.#bytes);
    for (const { mark, at } of this.#places) filled.write(values[mark] ?? mark, at, 'latin1');
    return filled;
  }

  #placesOf(mark: string): readonly Place[] {
    const places: Place[] = [];
    for (let at = this.#bytes.indexOf(mark); at >= 0; at = this.#bytes.indexOf(mark, at + 1)) {
      places.push({ mark, at });
    }
    if (places.length === 0) throw new Error(`no place for ${mark}`);
    return places;
  }
}

/** The form of a written object: alone, or as an event of a watch. */
export type Form = 'object' | 'json' | 'protobuf';

/** An object with marks, in all forms; each is made when it is first asked for. */
class Forms {
  readonly #object: object;
  readonly #templates = new Map<string, Template>();

  constructor(object: object) {
    this.#object = object;
  }

  /** `type`: of the event, where it is one. */
  write(form: Form, type: string, values: Values): Buffer {
    const key = `${form} ${type}`;
    const known = this.#templates.get(key);
    if (known) return known.fill(values);
    const bytes = bytesOf(form, type, this.#object);
    const template = new Template(
      bytes,
      Object.values(marks).filter((mark) => bytes.includes(mark)),
    );
    this.#templates.set(key, template);
    return template.fill(values);
  }
}

/** An object that has none of the marks, in a form. */
export function bytesOf(form: Form, type: string, object: object): Buffer {
  if (form === 'protobuf') return Buffer.from(encodeFrame(type, { ...object }));
  return Buffer.from(
    form === 'object' ? JSON.stringify(object) : `${JSON.stringify({ type, object })}\n`,
  );
}

/** The size of the cluster, and of the part that fails. */
export interface Size {
  readonly nodes: number;
  readonly pods: number;
  /** Nodes of the zone that will fail. */
  readonly failing: number;
  /** The time that pods stay on a lost node. */
  readonly tolerationSeconds: number;
}

export type Kind = 'nodes' | 'pods' | 'leases';

/** An object of the feeder: of a kind, with a number. */
export interface ObjectRef {
  readonly kind: Kind;
  readonly index: number;
}

const firstVersion = 1_000_000_000;
/** The size of a Deployment. */
const podsPerApp = 25;
const namespaces = 1_000;
/** Reports of so many different seconds are kept as templates. */
const secondsMax = 64;

const notReady = 1;
const marked = 2;
const gone = 4;

/** A cluster of which each object is made when it is asked for. */
export class World {
  readonly size: Size;
  #version: number = firstVersion;
  readonly #podStates: Uint8Array;
  readonly #versions: Readonly<Record<Kind, Uint32Array>>;
  /** The second in which a node was heard of last: its lease, its status. */
  readonly #beats: Readonly<Record<'nodes' | 'leases', Uint32Array>>;
  /** Nodes that a client has written. */
  readonly #written = new Map<number, object>();
  readonly #podForms: readonly Forms[];
  readonly #nodeForms = new Map<number, Forms>();
  readonly #leaseForms = new Map<number, Forms>();

  constructor(size: Size) {
    this.size = size;
    const { nodes, pods, tolerationSeconds } = size;
    const fresh = (count: number): Uint32Array => new Uint32Array(count).fill(firstVersion);
    this.#versions = { nodes: fresh(nodes), pods: fresh(pods), leases: fresh(nodes) };
    const second = Math.floor(Date.now() / 1000);
    const heard = (): Uint32Array => new Uint32Array(nodes).fill(second);
    this.#beats = { nodes: heard(), leases: heard() };
    this.#podStates = new Uint8Array(pods);
    this.#podForms = Array.from(
      { length: gone },
      (_, state) =>
        new Forms(
          markedPod(
            { isReady: (state & notReady) === 0, isMarked: (state & marked) !== 0 },
            tolerationSeconds,
          ),
        ),
    );
  }

  /** The version of the last change. */
  get version(): number {
    return this.#version;
  }

  count(kind: Kind): number {
    return kind === 'pods' ? this.size.pods : this.size.nodes;
  }

  versionOf({ kind, index }: ObjectRef): string {
    return String(this.#versions[kind][index]);
  }

  exists({ kind, index }: ObjectRef): boolean {
    const isOne = Number.isInteger(index) && index >= 0 && index < this.count(kind);
    return isOne && (kind !== 'pods' || ((this.#podStates[index] ?? 0) & gone) === 0);
  }

  nodeOf(pod: number): number {
    return pod % this.size.nodes;
  }

  /** The numbers of the pods of a node. */
  podsOn(node: number): readonly number[] {
    const count = Math.ceil((this.size.pods - node) / this.size.nodes);
    return Array.from({ length: count }, (_, at) => node + at * this.size.nodes);
  }

  /** The object in a form; `type` is of the event, where it is one. */
  write(ref: ObjectRef, form: Form, type = ''): Buffer {
    const { kind, index } = ref;
    if (kind === 'pods') {
      const state = (this.#podStates[index] ?? 0) & ~gone;
      return this.#podForm(state).write(form, type, this.#values(ref));
    }
    const written = kind === 'nodes' ? this.#written.get(index) : undefined;
    if (written) return new Forms(written).write(form, type, this.#values(ref));
    const [forms, marked] =
      kind === 'nodes'
        ? ([this.#nodeForms, markedNode] as const)
        : ([this.#leaseForms, markedLease] as const);
    const second = this.#beats[kind][index] ?? 0;
    let known = forms.get(second);
    if (!known) {
      if (forms.size > secondsMax) forms.clear();
      known = new Forms(marked(timeOf(kind, second)));
      forms.set(second, known);
    }
    return known.write(form, type, this.#values(ref));
  }

  /** Changes the object in an arbitrary way. */
  change(ref: ObjectRef): void {
    if (ref.kind === 'pods')
      this.#podStates[ref.index] = (this.#podStates[ref.index] ?? 0) ^ notReady;
    else this.#beats[ref.kind][ref.index] = Math.floor(Date.now() / 1000);
    this.#touch(ref);
  }

  /** A pod is marked as about to go. */
  mark(index: number): void {
    this.#podStates[index] = (this.#podStates[index] ?? 0) | marked;
    this.#touch({ kind: 'pods', index });
  }

  /** A pod is marked as not ready. */
  unready(index: number): void {
    this.#podStates[index] = (this.#podStates[index] ?? 0) | notReady;
    this.#touch({ kind: 'pods', index });
  }

  remove(index: number): void {
    this.#podStates[index] = (this.#podStates[index] ?? 0) | gone;
    this.#touch({ kind: 'pods', index });
  }

  /** Stores a client's write of a node. */
  put(index: number, node: Readonly<Record<string, unknown>>): void {
    this.#touch({ kind: 'nodes', index });
    const metadata = { ...Object(node.metadata), resourceVersion: marks.version };
    this.#written.set(index, { ...node, metadata });
  }

  #touch({ kind, index }: ObjectRef): void {
    this.#version += 1;
    this.#versions[kind][index] = this.#version;
  }

  #podForm(state: number): Forms {
    const forms = this.#podForms[state];
    if (!forms) throw new Error(`no pod is in state ${state}`);
    return forms;
  }

  #values(ref: ObjectRef): Values {
    const { kind, index } = ref;
    const isPod = kind === 'pods';
    const app = index % Math.ceil(this.size.pods / podsPerApp);
    const node = isPod ? this.nodeOf(index) : index;
    return {
      [marks.version]: this.versionOf(ref),
      [marks.app]: base36(app, 3),
      [marks.suffix]: base36(index, 5),
      [marks.namespace]: base36(app % namespaces, 2),
      [marks.node]: String(node).padStart(5, '0'),
      [marks.uid]: index.toString(16).padStart(12, '0'),
      [marks.zone]: node < this.size.failing ? '1a' : node % 2 === 0 ? '1b' : '1c',
    };
  }
}

/** The namespaces of all pods. */
export function namespaceNames(): readonly string[] {
  return Array.from({ length: namespaces }, (_, at) => `team-${base36(at, 2)}-production`);
}

function base36(value: number, width: number): string {
  return value.toString(36).padStart(width, '0');
}

function timeOf(kind: Kind, second: number): string {
  const text = new Date(second * 1000).toISOString();
  return kind === 'leases' ? `${text.slice(0, 19)}.000000Z` : `${text.slice(0, 19)}Z`;
}
