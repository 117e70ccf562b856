import type { ControllerContext } from '../controllers/controller.ts';
import { keyOf, splitKey } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { quantity } from '../objects/quantity.ts';
import { formatTime } from '../objects/time.ts';
import type { Machine } from './node-status.ts';
import {
  type FileSystem,
  localVolumes,
  type Measures,
  type PodShare,
  type Space,
  sumOf,
} from './summary.ts';

/** An amount in use from now on, in bytes or pieces: constant or growing. */
type Amount = number | Growth;

/** A use that changes with time. */
interface Growth {
  /** The amount at the start; left out: the present one. */
  readonly from?: number;
  /** The change in a second; negative: the use shrinks. */
  readonly perSecond: number;
  /** The amount at the end; left out: none, or zero when it shrinks. */
  readonly until?: number;
}

interface Course {
  readonly at: number;
  readonly from: number;
  readonly perSecond: number;
  readonly until: number;
}

/** Measures the usage of several things at any time. */
class Meter<Thing extends string> {
  readonly #initial: Readonly<Record<Thing, number>>;
  readonly #courses = new Map<Thing, Course>();

  constructor(initial: Readonly<Record<Thing, number>>) {
    this.#initial = initial;
  }

  /** Sets the course of one thing as of `now`. */
  set(now: number, thing: Thing, amount: Amount): void {
    const growth = typeof amount === 'number' ? { from: amount, perSecond: 0 } : amount;
    const { from = this.read(now, thing), perSecond } = growth;
    const until = growth.until ?? (perSecond < 0 ? 0 : Number.POSITIVE_INFINITY);
    this.#courses.set(thing, { at: now, from, perSecond, until });
  }

  /** The use at that time, a whole number. */
  read(now: number, thing: Thing): number {
    const course = this.#courses.get(thing);
    if (!course) return this.#initial[thing];
    const { at, from, perSecond, until } = course;
    const value = from + (perSecond * (now - at)) / 1000;
    if (perSecond === 0) return Math.round(from);
    return Math.round(perSecond > 0 ? Math.min(value, until) : Math.max(value, until));
  }
}

/** The usage of a pod; a field that is left out stays unchanged. Bytes, inodes and processes. */
export interface PodUsage {
  /** The working set. */
  readonly memory?: Amount;
  /** Bytes in the writable layers of its containers. */
  readonly rootfs?: Amount;
  /** Inodes in these layers. */
  readonly rootfsInodes?: Amount;
  /** Bytes of its logs. */
  readonly logs?: Amount;
  /** Inodes of its logs. */
  readonly logsInodes?: Amount;
  /** The number of its processes. */
  readonly processes?: Amount;
  /** By the name of the volume. */
  readonly volumes?: Readonly<Record<string, Amount>>;
  /** Inodes by the name of the volume. */
  readonly volumesInodes?: Readonly<Record<string, Amount>>;
}

/** The usage of a node outside its pods; a field that is left out stays unchanged. */
export interface NodeUsage {
  /** Bytes of memory. */
  readonly memory?: Amount;
  /** On the file system of the kubelet. */
  readonly disk?: Amount;
  /** Inodes on that file system. */
  readonly diskInodes?: Amount;
  /** Bytes of images. */
  readonly images?: Amount;
  /** Inodes of images. */
  readonly imagesInodes?: Amount;
  /** The number of processes. */
  readonly processes?: Amount;
}

const mebibyte = 2 ** 20;
const gibibyte = 2 ** 30;

/** The usage of a pod for which no usage is set. */
const quietPod: Readonly<Record<string, number>> = {
  memory: 20 * mebibyte,
  rootfs: mebibyte,
  rootfsInodes: 30,
  logs: mebibyte / 4,
  logsInodes: 4,
  processes: 3,
};
/** And each of its volumes. */
const quietVolume: Space = { bytes: 4096, inodes: 5 };
const quietNode: Readonly<Record<keyof NodeUsage, number>> = {
  memory: gibibyte,
  disk: 8 * gibibyte,
  diskInodes: 200_000,
  images: 6 * gibibyte,
  imagesInodes: 150_000,
  processes: 200,
};

/**
 * The interval at which a kubelet looks at its pods and its machine; it answers with its latest
 * look.
 */
const collectionMs = 10_000;

/** The usage of one node, by its pods and by others, as scenarios script it. */
export class NodeStats {
  readonly #context: ControllerContext;
  readonly #nodeName: string;
  readonly #machine: Machine;
  readonly #isStopping: (pod: KubeObject) => boolean;
  readonly #node = new Meter<keyof NodeUsage>(quietNode);
  readonly #pods = new Map<string, Meter<string>>();
  #collected: { readonly at: number; readonly measures: Measures } | null = null;
  #isFrozen = false;

  /** `isStopping`: whether containers of a pod still run although its phase is final. */
  constructor(
    context: ControllerContext,
    nodeName: string,
    machine: Machine,
    isStopping: (pod: KubeObject) => boolean,
  ) {
    this.#context = context;
    this.#nodeName = nodeName;
    this.#machine = machine;
    this.#isStopping = isStopping;
  }

  /** Changes what a pod (`namespace/name`) uses from now on. Throws when there is no such pod. */
  usePod(key: string, usage: PodUsage): void {
    const pod = this.#context.api.get('pods', ...splitKey(key));
    if (!pod) throw new Error(`no pod ${key}`);
    const { volumes = {}, volumesInodes = {}, ...own } = usage;
    const meter = this.#meterOf(pod);
    const set = (thing: string, amount: Amount): void => meter.set(this.#now, thing, amount);
    for (const [thing, amount] of Object.entries<Amount>(own)) set(thing, amount);
    for (const [name, amount] of Object.entries(volumes)) set(`bytes of ${name}`, amount);
    for (const [name, amount] of Object.entries(volumesInodes)) set(`inodes of ${name}`, amount);
  }

  /** Changes what everybody else on the node uses from now on. */
  useNode(usage: NodeUsage): void {
    for (const thing of Object.keys(quietNode) as readonly (keyof NodeUsage)[]) {
      const amount = usage[thing];
      if (amount !== undefined) this.#node.set(this.#now, thing, amount);
    }
  }

  /** Makes the kubelet answer with its latest look for ever, or look again. */
  setFrozen(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
  }

  /** The kubelet's latest measures; `clockMs` is the current time of its machine's clock. */
  measures(clockMs: number): Measures {
    const now = this.#now;
    const collected = this.#collected;
    if (collected && (this.#isFrozen || now - collected.at < collectionMs)) {
      return collected.measures;
    }
    const measures = this.#measure(now, formatTime(clockMs));
    this.#collected = { at: now, measures };
    return measures;
  }

  #measure(now: number, time: string): Measures {
    const node = this.#context.api.get('nodes', '', this.#nodeName);
    const capacity = (resource: string, of: 'capacity' | 'allocatable' = 'capacity'): number =>
      quantity(node?.status?.[of]?.[resource] ?? '0');
    const pods = this.#runningPods().map((pod) => this.#shareOf(pod, now));
    const read = (thing: keyof NodeUsage): number => this.#node.read(now, thing);
    const images = { bytes: read('images'), inodes: read('imagesInodes') };
    const disk = { bytes: read('disk'), inodes: read('diskInodes') };
    return {
      nodeName: this.#nodeName,
      startTime: node?.metadata.creationTimestamp ?? time,
      time,
      memoryBytes: capacity('memory'),
      allocatableMemoryBytes: capacity('memory', 'allocatable'),
      memoryUsedBytes: read('memory') + total(pods.map(({ memoryBytes }) => memoryBytes)),
      ...this.#fileSystems(capacity('ephemeral-storage'), disk, images, pods),
      images,
      processesMax: this.#machine.processesMax,
      processes: read('processes') + total(pods.map(({ processes }) => processes)),
      pods,
    };
  }

  #fileSystems(
    bytes: number,
    disk: Space,
    images: Space,
    pods: readonly PodShare[],
  ): Record<'nodeFs' | 'imageFs' | 'containerFs', FileSystem> {
    const { layout, imageFsBytes, inodes } = this.#machine;
    const rootfs = sumOf(pods.map((pod) => pod.rootfs));
    const kept = sumOf([disk, ...pods.flatMap((pod) => [pod.logs, localVolumes(pod)])]);
    const first = (...taken: readonly Space[]): FileSystem => ({
      capacity: { bytes, inodes },
      taken: sumOf([kept, ...taken]),
    });
    const second = (...taken: readonly Space[]): FileSystem => ({
      capacity: { bytes: imageFsBytes, inodes },
      taken: sumOf(taken),
    });
    switch (layout) {
      case 'shared': {
        const one = first(rootfs, images);
        return { nodeFs: one, imageFs: one, containerFs: one };
      }
      case 'dedicatedImageFs': {
        const other = second(rootfs, images);
        return { nodeFs: first(), imageFs: other, containerFs: other };
      }
      case 'splitImageFs': {
        const one = first(rootfs);
        return { nodeFs: one, imageFs: second(images), containerFs: one };
      }
    }
  }

  /** The pods whose containers run; the usage of others is forgotten. */
  #runningPods(): readonly KubeObject[] {
    const all = this.#context.lookup.podsOnNode(this.#nodeName);
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid);
    return all
      .filter((pod) => pod.status?.phase === 'Running' || this.#isStopping(pod))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  #shareOf(pod: KubeObject, now: number): PodShare {
    const meter = this.#meterOf(pod);
    const read = (thing: string): number => meter.read(now, thing);
    return {
      pod,
      memoryBytes: read('memory'),
      processes: read('processes'),
      rootfs: { bytes: read('rootfs'), inodes: read('rootfsInodes') },
      logs: { bytes: read('logs'), inodes: read('logsInodes') },
      volumes: Object.fromEntries(
        measuredVolumes(pod).map((volume) => [
          volume.name,
          {
            bytes: read(`bytes of ${volume.name}`),
            inodes: read(`inodes of ${volume.name}`),
            isLocal: isLocal(volume),
          },
        ]),
      ),
    };
  }

  #meterOf(pod: KubeObject): Meter<string> {
    const { uid = '' } = pod.metadata;
    let meter = this.#pods.get(uid);
    if (!meter) {
      const volumes = measuredVolumes(pod).flatMap(({ name }) => [
        [`bytes of ${name}`, quietVolume.bytes] as const,
        [`inodes of ${name}`, quietVolume.inodes] as const,
      ]);
      meter = new Meter({ ...quietPod, ...Object.fromEntries(volumes) });
      this.#pods.set(uid, meter);
    }
    return meter;
  }

  get #now(): number {
    return this.#context.api.clock.now();
  }
}

interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string };
  readonly configMap?: object;
  readonly gitRepo?: object;
  readonly hostPath?: object;
}

/** Files on the host belong to no pod in particular. */
function measuredVolumes(pod: KubeObject): readonly Volume[] {
  const volumes: readonly Volume[] = pod.spec.volumes ?? [];
  return volumes.filter(({ hostPath }) => hostPath === undefined);
}

/** True if its files count as the node's ephemeral storage. */
function isLocal({ emptyDir, configMap, gitRepo }: Volume): boolean {
  const isOnDisk = emptyDir !== undefined && (emptyDir.medium ?? '') === '';
  return isOnDisk || configMap !== undefined || gitRepo !== undefined;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
