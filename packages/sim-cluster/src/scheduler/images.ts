// The images on nodes: pods prefer nodes with less to pull.
import type { KubeObject } from '../objects/kube-object.ts';

/** An image as a node reports it. */
export interface ReportedImage {
  readonly names?: readonly string[];
  readonly sizeBytes?: number;
}

interface Container {
  readonly image?: string;
}

interface Volume {
  readonly image?: { readonly reference?: string };
}

/** An image, with its size in bytes as it was reported first, and the nodes that have it. */
interface Image {
  readonly size: number;
  readonly nodes: Set<string>;
}

/** Less than so many bytes count as nothing, and more than so many for each container as no more. */
const leastBytes = 23 * 2 ** 20;
const mostBytes = 1_000 * 2 ** 20;

/** The images of all nodes, by their names. */
export class NodeImages {
  readonly #images = new Map<string, Image>();

  /** True if no node reports an image. */
  get isEmpty(): boolean {
    return this.#images.size === 0;
  }

  /** Replaces the images of a node. */
  set(node: string, had: readonly ReportedImage[], has: readonly ReportedImage[]): void {
    for (const name of namesOf(had)) {
      const image = this.#images.get(name);
      image?.nodes.delete(node);
      if (image?.nodes.size === 0) this.#images.delete(name);
    }
    for (const { names = [], sizeBytes = 0 } of has) {
      for (const name of names) {
        const image = this.#images.get(name) ?? { size: sizeBytes, nodes: new Set() };
        this.#images.set(name, image);
        image.nodes.add(node);
      }
    }
  }

  /**
   * ImageLocality of a pod on one of so many nodes, of 100: the bytes of its images that are there, each less
   * by the share of nodes that lack it, so that not all pods go to the one node that has it.
   */
  scorer(pod: KubeObject, nodeCount: number): (node: string) => number {
    const {
      containers = [],
      initContainers = [],
      volumes = [],
    } = pod.spec as {
      readonly containers?: readonly Container[];
      readonly initContainers?: readonly Container[];
      readonly volumes?: readonly Volume[];
    };
    const references = [
      ...[...initContainers, ...containers].map(({ image = '' }) => image),
      ...volumes.flatMap(({ image }) => image?.reference ?? []),
    ];
    const most = mostBytes * references.length;
    const images = references.flatMap((reference) => this.#images.get(tagged(reference)) ?? []);
    const counted = images.map(({ size, nodes }) => {
      return { nodes, bytes: Math.trunc(size * (nodes.size / nodeCount)) };
    });
    return (node) => {
      let bytes = 0;
      for (const image of counted) if (image.nodes.has(node)) bytes += image.bytes;
      const within = Math.max(leastBytes, Math.min(most, bytes));
      return Math.trunc((100 * (within - leastBytes)) / (most - leastBytes));
    };
  }
}

function namesOf(images: readonly ReportedImage[]): readonly string[] {
  return images.flatMap(({ names = [] }) => names);
}

/** A reference without a tag means the latest. */
function tagged(reference: string): string {
  return reference.lastIndexOf(':') <= reference.lastIndexOf('/')
    ? `${reference}:latest`
    : reference;
}
