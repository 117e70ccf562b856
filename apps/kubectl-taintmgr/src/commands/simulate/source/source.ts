import { type Config, parseQuantity } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type {
  Cluster,
  KubeObject,
  NodeDescription,
  RangeMs,
  RestingCluster,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import type { PodTimes } from '../times/pod-times.ts';
import type { Unknowns } from './unknowns.ts';

/** The beginning of a simulation: a cluster that can be built again for each run. */
export interface ClusterSource {
  /** The file, or the live cluster. */
  readonly name: string;
  readonly startsAt: Instant;
  /** Settles a made-up cluster first; `times`: see `make`. Null: the cluster is as it was read. */
  readonly bringToRest: ((seed: number, times: PodTimes) => Generator<null, RestingCluster>) | null;
  /** The parts that could not be read; any of them needs --partial. */
  readonly missing: readonly string[];
  /** The policies, taint rules and pauses that are in force in it. */
  readonly policies: readonly PolicyObject[];
  /** The settings of the controller that acts in it; left out: unknown, or none acts. */
  readonly engine?: Partial<Config>;
  /**
   * The time since which kube-controller-manager has acted there (-Infinity: all along), so that its timers
   * run; null: it begins with the simulation.
   */
  readonly upstreamSince: Instant | null;
  /**
   * The controller that evicts in it for NoExecute taints, with the evidence; null: the cluster is made up,
   * and none does.
   */
  readonly actor: Actor | null;
  /** The minor version of its nodes, 36 for 1.36; null: not known. */
  readonly minorVersion: number | null;
  /** The unsimulated parts that decide about workloads there. */
  readonly unknowns: Unknowns;
  /** True where a program that is not simulated adds nodes for pods that fit on none. */
  readonly getsNodes: boolean;
  /** Notes on present objects that the simulation does not know. */
  readonly notes: readonly string[];
  /** The observed time that pods of workloads took to start in it. */
  readonly observed: ReadonlyMap<string, RangeMs>;
  /** The parts of the cluster for `make` and `bringToRest`, which another thread can be given. */
  readonly parts: ClusterParts;
  readonly make: (clock: VirtualClock, how: MakeOptions) => Cluster;
}

/** Of a snapshot its objects; of one that is made up its machines and objects. */
export type ClusterParts =
  | { readonly kind: 'snapshot'; readonly snapshot: readonly KubeObject[] }
  | {
      readonly kind: 'topology';
      readonly nodes: readonly NodeDescription[];
      readonly objects: readonly KubeObject[];
    };

/** The functions that build the cluster of a source, again and again. */
export type Building = Pick<ClusterSource, 'make' | 'bringToRest'>;

/** The controller that acts in a cluster. */
export interface Actor {
  readonly name: 'kube-controller-manager' | 'taintmgr';
  /** `lease kube-system/kube-controller-manager`; null: nothing shows it, and it is assumed. */
  readonly source: string | null;
}

interface MakeOptions {
  readonly seed: number;
  /** The time that pods take in it. */
  readonly times: PodTimes;
  /** At rest, for one that is made up. */
  readonly resting: RestingCluster | null;
}

// Names, labels and amounts as the API server takes them. The API server would refuse others only when an
// object is made of them, where their line in the file is no longer known.

const namePattern = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const nameLengthMax = 253;
const labelKeyPattern =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const labelValuePattern = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

/** The number of pods that Kubernetes is made for; larger workloads are not simulated. */
export const podsMax = 150_000;

/** The name of an object. Throws FileFault. */
export function nameOf(field: Field): string {
  return checkName(field, field.text());
}

/** A namespace and a name in it, `shop/web`. Throws FileFault. */
export function keyOf(field: Field): readonly [namespace: string, name: string] {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(field.text()) ?? [];
  if (namespace === undefined || name === undefined) throw field.fault('want NAMESPACE/NAME');
  return [checkName(field, namespace), checkName(field, name)];
}

/** The value of a label, such as a zone. Throws FileFault. */
export function labelValueOf(field: Field): string {
  return checkLabelValue(field, field.text());
}

/** Labels by their keys; none for undefined. Throws FileFault. */
export function labelsOf(field: Field | undefined): Readonly<Record<string, string>> {
  return textsOf(field, (place, key, value) => {
    if (!labelKeyPattern.test(key)) throw place.fault(`no key of a label: ${JSON.stringify(key)}`);
    checkLabelValue(place, value);
  });
}

/** Amounts such as `500m` and `64Mi` by their resources; none for undefined. Throws FileFault. */
export function amountsOf(field: Field | undefined): Readonly<Record<string, string>> {
  return textsOf(field, (place, _, value) => void place.read(() => parseQuantity(value)));
}

/** Texts and numbers by their keys: both are how labels and amounts are written. */
function textsOf(
  field: Field | undefined,
  check: (place: Field, key: string, value: string) => void,
): Readonly<Record<string, string>> {
  const entries = Array.from(field?.entries() ?? [], ([key, place]) => {
    const { value } = place;
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw place.fault(`want a text, got ${JSON.stringify(value)}`);
    }
    check(place, key, String(value));
    return [key, String(value)] as const;
  });
  return Object.fromEntries(entries);
}

function checkName(field: Field, name: string): string {
  if (namePattern.test(name) && name.length <= nameLengthMax) return name;
  throw field.fault(
    `want a name of lower-case letters, digits, '-' and '.', got ${JSON.stringify(name)}`,
  );
}

function checkLabelValue(field: Field, value: string): string {
  if (labelValuePattern.test(value)) return value;
  throw field.fault(
    `want at most 63 letters, digits, '-', '_' and '.', as in a label, got ${JSON.stringify(value)}`,
  );
}
