// Gathers the objects of a cluster from one file or many, judges each while its text is at hand, and keeps what of it
// plays a part.
import { isDeepStrictEqual } from 'node:util';
import { formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import { decidingKinds } from '@taintmgr/k8s-adapter';
import { choicesText } from '@taintmgr/k8s-adapter/command-line';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import { type KubeObject, loadRefusal } from '@taintmgr/sim-cluster';
import { collections } from '../../../../cluster/collections.ts';
import { podsMax } from '../source.ts';
import { cut, inertKinds } from './cut.ts';
import { type FoundObject, type ObjectSink, objectsIn } from './found.ts';

/** The findings on a cluster in the files of -f. */
export interface Gathered {
  /** Each of a kind that plays a part, and sound. */
  readonly objects: readonly KubeObject[];
  /** The faults of input that could not be taken, each with its place. */
  readonly faults: readonly string[];
  /** True if the input held any object at all, sound or not. */
  readonly isRead: boolean;
  /** The kinds that play no part, object by object. */
  readonly foreign: readonly string[];
  /** The last moment that anything speaks of: when it was read, or shortly before; null: nothing does. */
  readonly latest: Instant | null;
  readonly notes: readonly string[];
  /** The place of a workload that asks for many pods; null: not known. */
  readonly fieldOf: (object: KubeObject) => Field | null;
}

/** Where one of the objects is. */
interface Taken {
  readonly at: number;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The input of one -f, which was read from the cluster at one time. */
interface Reading {
  readonly name: string;
  /** When nodes were last heard of in it, and the last moment that anything in it speaks of. */
  heardAt: Instant;
  latest: Instant;
}

/** Of kinds that play a part, pods among them. */
const objectsMax = 4 * podsMax;
/** Clocks differ by less; one that is further ahead would make all nodes silent. */
const aheadMsMax = 600_000;
/** The number of kept faults: finding the place of one takes long. */
const faultsMax = 1_000;
/** Above this number of pods, the place of the object is kept. */
const manyPods = 10_000;
/** Readings that were taken at one time differ by less. */
const readingMsMax = 600_000;

/** Takes objects one by one. */
export class Gathering {
  readonly #objects: KubeObject[] = [];
  readonly #faults: string[] = [];
  readonly #foreign: string[] = [];
  readonly #taken = new Map<string, Taken>();
  readonly #large = new Map<string, FoundObject['field']>();
  readonly #readings: Reading[] = [];
  #pods = 0;
  readonly #now = Date.now();
  /** Objects that speak of the future, and the last moment of which one does. */
  readonly #ahead: string[] = [];
  #latestAhead = Number.NEGATIVE_INFINITY;
  /** The number of objects that speak of the past alone. */
  #dated = 0;
  #faultsLeftOut = 0;
  #isRead = false;
  readonly #strange = new Map<string, number>();

  /** Begins with what another -f names. */
  begin(name: string): void {
    const never = Number.NEGATIVE_INFINITY;
    this.#readings.push({ name, heardAt: never, latest: never });
  }

  /** Tells whether anything was found. */
  get isEmpty(): boolean {
    return !this.#isRead && this.#faults.length === 0;
  }

  /** Says that lines or files are left out, as they hold no objects. */
  strange(what: string, times: number): void {
    if (times > 0) this.#strange.set(what, (this.#strange.get(what) ?? 0) + times);
  }

  /** Takes the objects of a file. */
  sink(file: string): ObjectSink {
    return {
      object: (found) => this.#take(file, found),
      fault: (text) => this.#fault(() => text),
    };
  }

  #take(file: string, found: FoundObject): void {
    const { value } = found;
    if (value === null) return;
    this.#isRead = true;
    this.#noticeTimes(value as Partial<KubeObject>);
    const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
    if (typeof kind === 'string' && inertKinds.has(kind)) return;
    if (apiVersion === policyApiVersion && decidingKinds.some((one) => one === kind)) {
      this.#put(file, found, value as KubeObject);
      return;
    }
    const refusal = loadRefusal(value);
    if (refusal === null) this.#put(file, found, cut(value as KubeObject));
    else if (refusal.endsWith(' is not served')) this.#strangerOf(file, found);
    else this.#refuse(file, found, refusal);
  }

  /** Takes note of an object that plays no part; refuses one that does in another version. */
  #strangerOf(file: string, found: FoundObject): void {
    const { kind, apiVersion } = found.value as { kind?: unknown; apiVersion?: unknown };
    const known = collections.find((one) => {
      return one.kind === kind && groupOf(one.apiVersion) === groupOf(String(apiVersion));
    });
    if (!known || known.isOfDevices) this.#foreign.push(String(kind));
    else {
      const plural = known.path.split('/').at(-1);
      const wanted = `${plural}.${known.apiVersion.split('/').toReversed().join('.')}`;
      const reason = `apiVersion: got ${apiVersion}, want ${known.apiVersion}: kubectl get ${wanted}`;
      this.#refuse(file, found, reason);
    }
  }

  #put(file: string, found: FoundObject, object: KubeObject): void {
    const key = keyOf(object);
    const before = this.#taken.get(key);
    const { line, column } = found.place;
    if (before === undefined) {
      const most = object.kind === 'Pod' && ++this.#pods > podsMax ? `${podsMax} pods` : null;
      const crowd = most ?? (this.#taken.size === objectsMax ? `${objectsMax} objects` : null);
      if (crowd !== null) {
        const why = `more than ${crowd}, and Kubernetes is made for clusters of so many`;
        throw new FaultyFile([`${file}:${line}:${column}: ${why}`]);
      }
      this.#taken.set(key, { at: this.#objects.push(object) - 1, file, line, column });
      if (Number(object.spec?.replicas ?? object.spec?.parallelism ?? 0) > manyPods) {
        this.#large.set(key, found.field);
      }
      return;
    }
    const known = this.#objects[before.at] as KubeObject;
    const [old, given] = [known, object].map(({ metadata }) => Number(metadata.resourceVersion));
    if (before.file === file) {
      // kubectl get --watch prints objects again as they change.
      const isNewer = old && given && given > old;
      if (object.kind === 'Namespace' || isNewer) this.#objects[before.at] = object;
      else this.#refuse(file, found, 'already there');
      return;
    }
    if (isDeepStrictEqual(known, object)) return;
    const where = `${before.file}:${before.line}:${before.column}`;
    const isElsewhere = object.kind === 'Namespace' && known.metadata.uid !== object.metadata.uid;
    if (isElsewhere) this.#refuse(file, found, `it is of another cluster than that of ${where}`);
    else if (!old || !given || old === given) {
      this.#refuse(file, found, `already there, and otherwise: ${where}`);
    } else if (given > old) this.#objects[before.at] = object;
  }

  #refuse(file: string, found: FoundObject, reason: string): void {
    const { kind, metadata } = (found.value ?? {}) as Partial<KubeObject>;
    const { namespace, name } = (metadata ?? {}) as Partial<KubeObject['metadata']>;
    const what = `${textOf(kind) || 'something without a kind'} ${
      textOf(namespace) ? `${namespace}/` : ''
    }${textOf(name) || '(without a name)'}`;
    const isNumber =
      reason === 'no name' && typeof (metadata as { name?: unknown })?.name === 'number';
    const why = isNumber ? 'metadata.name: got a number, want a text: write it in quotes' : reason;
    this.#fault(() => faultText(file, found, what, why));
  }

  #fault(text: () => string): void {
    if (this.#faults.length < faultsMax) this.#faults.push(text());
    else this.#faultsLeftOut++;
  }

  #noticeTimes(object: Partial<KubeObject>): void {
    const reading = this.#readings.at(-1);
    if (!reading) return;
    const { latest, heard, ahead } = timesIn(object, this.#now + aheadMsMax);
    if (ahead !== null) {
      this.#ahead.push(`${object.kind} ${object.metadata?.name}`);
      this.#latestAhead = Math.max(this.#latestAhead, ahead);
    } else if (Number.isFinite(latest)) this.#dated++;
    reading.latest = Math.max(reading.latest, latest);
    if (object.kind === 'Node' || object.kind === 'Lease') {
      reading.heardAt = Math.max(reading.heardAt, heard);
    }
  }

  /** All of it. */
  gathered(): Gathered {
    // Where most of them do, it is our clock that is behind.
    const isBelieved = this.#ahead.length > this.#dated;
    const believed = isBelieved ? this.#latestAhead : Number.NEGATIVE_INFINITY;
    const latest = Math.max(believed, ...this.#readings.map((one) => one.latest));
    return {
      objects: this.#objects,
      faults: [
        ...this.#faults,
        ...(this.#faultsLeftOut > 0 ? [`${this.#faultsLeftOut} more could not be taken`] : []),
      ],
      isRead: this.#isRead,
      foreign: this.#foreign,
      latest: Number.isFinite(latest) ? Math.ceil(latest) : null,
      notes: [
        ...Array.from(this.#strange, ([what, times]) => `${what} left out: ${times}`),
        ...this.#timesNote(),
        ...(this.#ahead.length > 0 && !isBelieved
          ? [`times in the future are not believed: ${choicesText(this.#ahead)}`]
          : []),
      ],
      fieldOf: (object) => this.#large.get(keyOf(object))?.() ?? null,
    };
  }

  /** Parts of different times: objects may be missing in one of them. */
  #timesNote(): readonly string[] {
    const heard = this.#readings.filter(({ heardAt }) => Number.isFinite(heardAt));
    const [first] = heard.sort((one, other) => one.heardAt - other.heardAt);
    const last = this.#readings.toSorted((one, other) => other.latest - one.latest)[0];
    if (!first || !last || last.latest - first.heardAt < readingMsMax) return [];
    if (first.name === last.name) return [];
    const [older, newer] = [first.heardAt, last.latest].map((at) => formatTime(at));
    return [
      `the files are of different times: ${first.name} of ${older}, ${last.name} of ${newer} or later; ` +
        'what changed between them is taken as it stands in each',
    ];
  }
}

/** The objects of values without places, such as those of a live cluster, and of lists. */
export function gather(name: string, values: readonly unknown[]): Gathered {
  const gathering = new Gathering();
  gathering.begin(name);
  const sink = gathering.sink(name);
  const place = { line: 0, column: 0, path: [] };
  for (const value of values.flatMap((one) => [...objectsIn(one)])) {
    sink.object({ value, place, field: () => null });
  }
  return gathering.gathered();
}

function groupOf(apiVersion: string): string {
  return apiVersion.replace(/\/?[^/]*$/, '');
}

function keyOf({ apiVersion = '', kind, metadata: { namespace = '', name } }: KubeObject): string {
  // Versions of a kind are the same object.
  return `${groupOf(apiVersion)} ${kind} ${namespace}/${name}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The fault of an object, at the member that the reason is about. */
function faultText(file: string, found: FoundObject, what: string, reason: string): string {
  try {
    const field = found.field();
    if (field) return faultyMember(field, reason).fault(`${what}: ${reason}`).message;
  } catch (error) {
    if (!(error instanceof FaultyFile)) throw error;
    return error.faults[0] ?? '';
  }
  return `${file}: ${what}: ${reason}`;
}

/** The member that a reason is about, as far as the reason says. */
function faultyMember(object: Field, reason: string): Field {
  const [, goPath] = /Go struct field [^. ]+\.(\S+) of type/.exec(reason) ?? [];
  const [, time] = /^parsing time ("[^"]*")/.exec(reason) ?? [];
  if (goPath !== undefined) return object.below(goPath.split('.'), kindOf(reason));
  return time === undefined ? object : (object.holding(JSON.parse(time)) ?? object);
}

/** `string` of `cannot unmarshal string into`. */
function kindOf(reason: string): string {
  return /cannot unmarshal (\w+)/.exec(reason)?.[1] ?? '';
}

/** The last moment that an object speaks of, and the last at which its node was heard of. */
function timesIn(
  object: Partial<KubeObject>,
  until: Instant,
): { readonly latest: Instant; readonly heard: Instant; readonly ahead: Instant | null } {
  let ahead: Instant | null = null;
  let [latest, heard] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const notice = (text: unknown): Instant => {
    const time = typeof text === 'string' ? parseTime(text) : null;
    if (time === null) return Number.NEGATIVE_INFINITY;
    if (time > until) {
      ahead = Math.max(ahead ?? time, time);
      return Number.NEGATIVE_INFINITY;
    }
    latest = Math.max(latest, time);
    return time;
  };
  notice(object.metadata?.creationTimestamp);
  const owners: unknown = object.metadata?.managedFields;
  for (const owner of Array.isArray(owners) ? owners : []) notice(owner?.time);
  if (object.kind === 'Lease') heard = Math.max(heard, notice(object.spec?.renewTime));
  const conditions: unknown = object.status?.conditions;
  for (const condition of Array.isArray(conditions) ? conditions : []) {
    heard = Math.max(heard, notice(condition?.lastHeartbeatTime));
    notice(condition?.lastTransitionTime);
  }
  return { latest, heard, ahead };
}
