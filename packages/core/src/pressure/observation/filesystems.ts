import { type FilesystemName, type Signal, signals } from '../signals.ts';

/** How images and writable layers lie beside the kubelet's own file system. */
export type FilesystemLayout =
  /** All on one. */
  | 'single'
  /** Images and writable layers together on another one. */
  | 'dedicatedImages'
  /** Images on another one, writable layers beside the kubelet's files. */
  | 'splitImages';

/** What of a pod lies on a disk. */
export type DiskPart = 'root' | 'logs' | 'volumes';

/** What a kubelet can clear away on a node before it evicts pods. */
export type ReclaimFunction = 'deleteUnusedContainers' | 'deleteUnusedImages';

interface FilesystemRule {
  /** What counts as a pod's usage. */
  readonly parts: readonly DiskPart[];
  /** What is cleared first, in this order. */
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

/** What a kubelet clears away before it evicts pods for the signal; none for memory and pids. */
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
