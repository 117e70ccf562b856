import type { Instant } from '../../kernel/time.ts';
import { type FilesystemName, type Signal, signals } from '../signals.ts';
import type { NodeObservation, Sample } from './observation.ts';

/** The places of images and writable layers beside the kubelet's own file system. */
export type FilesystemLayout =
  /** All on one. */
  | 'single'
  /** Images and writable layers together on another one. */
  | 'dedicatedImages'
  /** Images on another one, writable layers beside the kubelet's files. */
  | 'splitImages';

/** A part of a pod that lies on a disk. */
export type DiskPart = 'root' | 'logs' | 'volumes';

/** The means by which a kubelet can clear a node before it evicts pods. */
export type ReclaimFunction = 'deleteUnusedContainers' | 'deleteUnusedImages';

interface FilesystemRule {
  /** The parts that count as a pod's usage. */
  readonly parts: readonly DiskPart[];
  /** The means that are tried first, in this order. */
  readonly reclaim: readonly ReclaimFunction[];
}

const everything: readonly DiskPart[] = ['root', 'logs', 'volumes'];
const both: readonly ReclaimFunction[] = ['deleteUnusedContainers', 'deleteUnusedImages'];
const whole: FilesystemRule = { parts: everything, reclaim: both };
const layers: FilesystemRule = { parts: ['root'], reclaim: both };
const besideLayers: FilesystemRule = { parts: everything, reclaim: ['deleteUnusedContainers'] };

const layouts: Readonly<
  Record<FilesystemLayout, Readonly<Record<FilesystemName, FilesystemRule>>>
> = {
  single: { nodefs: whole, imagefs: whole, containerfs: whole },
  dedicatedImages: {
    nodefs: { parts: ['logs', 'volumes'], reclaim: [] },
    imagefs: layers,
    containerfs: layers,
  },
  splitImages: {
    nodefs: besideLayers,
    imagefs: { parts: [], reclaim: ['deleteUnusedImages'] },
    containerfs: besideLayers,
  },
};

/** The parts of a pod that its usage of the signal's file system consists of. */
export function measuredParts(signal: Signal, layout: FilesystemLayout): readonly DiskPart[] {
  const { filesystem } = signals[signal];
  return filesystem === null ? [] : layouts[layout][filesystem].parts;
}

/** The means that a kubelet tries before it evicts pods for the signal; none for memory and pids. */
export function reclaimFunctions(
  signal: Signal,
  layout: FilesystemLayout,
): readonly ReclaimFunction[] {
  const { filesystem } = signals[signal];
  return filesystem === null ? [] : layouts[layout][filesystem].reclaim;
}

/** The file system on which writable layers lie, whose thresholds hold for containerfs too. */
export const layersBeside: Readonly<Record<FilesystemLayout, FilesystemName>> = {
  single: 'nodefs',
  dedicatedImages: 'imagefs',
  splitImages: 'nodefs',
};

type Samples = NodeObservation['samples'];

/** One file system as it was seen. */
interface Filesystem {
  readonly bytes: Sample;
  /** Some file systems do not count them. */
  readonly inodes: Sample | undefined;
}

/** The likeness of two file systems. */
type Likeness =
  /** To the byte and the inode, as two different ones never are. */
  | 'equal'
  /** Within what one may change between two looks at it. */
  | 'close'
  | 'different';

/**
 * The largest part of a file system by which two samples of it, taken one after the other, may
 * differ.
 */
const driftMax = 0.01;

/**
 * Finds out which file systems of a node are one and the same. A single look can be wrong: two disks may be
 * used alike, and one disk may fill up between two samples. So every look is taken in, and clear
 * ones count.
 */
export class SeenLayout {
  readonly #nodefsAndImagefs = new SeenPair();
  readonly #imagefsAndContainerfs = new SeenPair();

  /** Null: there are too few samples to judge. */
  get layout(): FilesystemLayout | null {
    if (this.#nodefsAndImagefs.isOne === null) return null;
    if (this.#imagefsAndContainerfs.isOne === false) return 'splitImages';
    return this.#nodefsAndImagefs.isOne ? 'single' : 'dedicatedImages';
  }

  /** Takes in samples, which should be without fault: one that is old differs from all others. */
  see(samples: Samples): void {
    const nodefs = filesystem('nodefs', samples);
    const imagefs = filesystem('imagefs', samples);
    const containerfs = filesystem('containerfs', samples);
    if (!nodefs || !imagefs) return;
    this.#nodefsAndImagefs.see(nodefs, imagefs);
    if (containerfs) this.#imagefsAndContainerfs.see(imagefs, containerfs);
  }
}

/** Tells whether two file systems are one. */
class SeenPair {
  /** Null: not seen yet. */
  isOne: boolean | null = null;
  /** The file systems were equal, and no later observation refutes that. */
  #wasEqual = false;
  /** When the samples were taken that were the first to differ after that; null: none did. */
  #differedAt: Instant | null = null;

  see(a: Filesystem, b: Filesystem): void {
    switch (likeness(a, b)) {
      case 'equal':
        this.isOne = true;
        this.#wasEqual = true;
        this.#differedAt = null;
        return;
      case 'close':
        this.isOne ??= true;
        this.#differedAt = null;
        return;
      case 'different':
        if (this.#wasEqual && !this.#differsAgain(a.bytes, b.bytes)) return;
        this.isOne = false;
        this.#wasEqual = false;
    }
  }

  /**
   * A file system that fills up fast differs from itself once; another file system still does in
   * later samples.
   */
  #differsAgain(a: Sample, b: Sample): boolean {
    const times = [a, b].map(({ time }) => time ?? Number.NEGATIVE_INFINITY);
    if (this.#differedAt !== null) return Math.min(...times) > this.#differedAt;
    this.#differedAt = Math.max(...times);
    return false;
  }
}

function filesystem(name: FilesystemName, samples: Samples): Filesystem | null {
  const bytes = samples[`${name}.available`];
  return bytes ? { bytes, inodes: samples[`${name}.inodesFree`] } : null;
}

function likeness(a: Filesystem, b: Filesystem): Likeness {
  const inodes = a.inodes && b.inodes ? ([a.inodes, b.inodes] as const) : null;
  if (isEqual(a.bytes, b.bytes) && (!inodes || isEqual(...inodes))) return 'equal';
  // The largest number of inodes may depend on the free ones; sizes do not.
  const isClose = a.bytes.capacity === b.bytes.capacity && isNear(a.bytes, b.bytes);
  return isClose && (!inodes || isNear(...inodes)) ? 'close' : 'different';
}

function isEqual(a: Sample, b: Sample): boolean {
  return a.capacity === b.capacity && a.available === b.available;
}

function isNear(a: Sample, b: Sample): boolean {
  const drift = a.capacity * driftMax;
  return Math.abs(a.capacity - b.capacity) <= drift && Math.abs(a.available - b.available) <= drift;
}
