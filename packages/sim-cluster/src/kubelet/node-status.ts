// The Node as its kubelet reports it.
import type { Condition } from '../controllers/pods.ts';
import { type Random, randomDigits, randomUid } from '../kernel/prng.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';

/** The facts about a machine before its kubelet registers it. */
export interface NodeDescription {
  /** The name of the Node, and its label `kubernetes.io/hostname`. */
  readonly name: string;
  /** The label `topology.kubernetes.io/region`; left out: no label. */
  readonly region?: string;
  /** The label `topology.kubernetes.io/zone`; left out: no label. */
  readonly zone?: string;
  /** Its address; left out: one is made up. */
  readonly internalIp?: string;
  /** Labels beside or in place of the usual ones; null leaves one of those out. */
  readonly labels?: Readonly<Record<string, string | null>>;
  /** The taints in the kubelet's --register-with-taints. */
  readonly taints?: readonly { readonly [field: string]: Json }[];
  /** Resource quantities that replace or extend cpu 4, memory 16Gi, pods 110. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Disks, inodes and processes; left out: an ordinary machine with one disk. */
  readonly machine?: Partial<Machine>;
  /** True if another part sets the pressure conditions once the node is registered. */
  readonly pressureByOthers?: boolean;
  /** Fields of the KubeletConfiguration beside or in place of the defaults, for /configz. */
  readonly kubeletConfig?: { readonly [field: string]: Json };
}

/** The facts about a node that its capacity does not say. */
export interface Machine {
  /**
   * The file systems of images and of writable layers: shared with the node, images apart, or both
   * apart.
   */
  readonly layout: 'shared' | 'dedicatedImageFs' | 'splitImageFs';
  /** The size of that file system. */
  readonly imageFsBytes: number;
  /** The inodes of each file system. */
  readonly inodes: number;
  /** The number of processes that the node can run. */
  readonly processesMax: number;
}

/** An ordinary machine with one disk. */
export const defaultMachine: Machine = {
  layout: 'shared',
  imageFsBytes: 50 * 2 ** 30,
  inodes: 6_553_600,
  processesMax: 32_768,
};

/** The conditions a kubelet reports about its node, with the reason and message for each status. */
const conditionReports = {
  MemoryPressure: {
    False: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    True: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
  },
  DiskPressure: {
    False: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    True: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
  },
  PIDPressure: {
    False: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
    True: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
  },
  Ready: {
    False: ['KubeletNotReady', 'container runtime is down'],
    True: ['KubeletReady', 'kubelet is posting ready status'],
  },
} as const;

/** A condition type that the kubelet owns. */
export type NodeConditionType = keyof typeof conditionReports;

/** The address of a machine without a given one, by its number. */
export function hostIpOf(index: number): string {
  return `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
}

/** The address of the pod that is started on that machine after so many others. */
export function podIpOf(index: number, count: number): string {
  return `10.${128 + (index >> 8)}.${index & 255}.${2 + (count % 253)}`;
}

/** The kubelet's own view of its node. */
export type NodeReport = Readonly<Record<NodeConditionType, boolean>>;

/** Every condition type that a kubelet owns. */
export const nodeConditionTypes = Object.keys(conditionReports) as readonly NodeConditionType[];

/** True if the stored conditions of those types say what the kubelet would say. */
export function isReported(
  node: KubeObject,
  report: NodeReport,
  types: readonly NodeConditionType[],
): boolean {
  const conditions: readonly Condition[] = node.status?.conditions ?? [];
  return types.every((type) => {
    const stored = conditions.find((condition) => condition.type === type);
    return stored?.status === statusText(report[type]);
  });
}

/**
 * The node's conditions with those of `types` set as of `now` (in the format of the field);
 * conditions of other types stay as they are.
 */
export function reportedConditions(
  conditions: readonly Condition[],
  report: NodeReport,
  now: string,
  types: readonly NodeConditionType[] = nodeConditionTypes,
): readonly Condition[] {
  const own = types.map((type) => {
    const status = statusText(report[type]);
    const [reason, message] = conditionReports[type][status];
    const old = conditions.find((condition) => condition.type === type);
    const lastTransitionTime = old?.status === status ? (old.lastTransitionTime ?? now) : now;
    return { type, status, lastHeartbeatTime: now, lastTransitionTime, reason, message };
  });
  const others = conditions.filter(({ type }) => !types.some((ownType) => ownType === type));
  return [...others, ...own];
}

function statusText(value: boolean): 'True' | 'False' {
  return value ? 'True' : 'False';
}

/** The Node object with which a kubelet registers; conditions are set by the caller. */
export function nodeObject(
  description: NodeDescription,
  internalIp: string,
  random: Random,
): KubeObject {
  const { name, region, zone, labels, taints, capacity } = description;
  const resources = {
    cpu: '4',
    'ephemeral-storage': '100Gi',
    memory: '16Gi',
    pods: '110',
    ...capacity,
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: given({
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/region': region ?? null,
        'topology.kubernetes.io/zone': zone ?? null,
        ...labels,
      }),
    },
    spec: taints?.length ? { taints } : {},
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: 'InternalIP', address: internalIp },
        { type: 'Hostname', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        architecture: 'amd64',
        bootID: randomUid(random),
        containerRuntimeVersion: 'containerd://2.1.4',
        kernelVersion: '6.12.48',
        kubeProxyVersion: '',
        kubeletVersion: 'v1.36.2',
        machineID: randomDigits(random, 32),
        operatingSystem: 'linux',
        osImage: 'Debian GNU/Linux 13 (trixie)',
        systemUUID: randomUid(random),
      },
    },
  };
}

function given(labels: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
