// What a feeder knows of its cluster: a few numbers for each object, from which it is written anew
// whenever somebody asks.
import { type Form, Forms } from './forms.ts';
import { markedLease, markedNode, markedPod, marks } from './objects.ts';
import type { Values } from './template.ts';

/** How large the cluster is, and how much of it fails. */
export interface Size {
  readonly nodes: number;
  readonly pods: number;
  /** Nodes of the zone that will fail. */
  readonly failing: number;
  /** How long pods stay on a lost node. */
  readonly tolerationSeconds: number;
}

export type Kind = 'nodes' | 'pods' | 'leases';

/** An object of the feeder: of a kind, with a number. */
export interface ObjectRef {
  readonly kind: Kind;
  readonly index: number;
}

const firstVersion = 1_000_000_000;
/** As many as a Deployment has. */
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
  /** Nodes that somebody has written to. */
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

  /** Of the last change. */
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

  /** It changes in some way, as objects do. */
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

  /** Somebody has written a node. */
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
