// Lays manifests over the cluster that is copied: --apply.
import type { Instant } from '@taintmgr/core/time';
import { choicesText, countBy, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { type PolicyObject, policyApiVersion, readManifest } from '@taintmgr/k8s-adapter/kinds';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import { filesFirst } from '@taintmgr/k8s-adapter/survey';
import type { AppliedObject } from '@taintmgr/page';
import { ApiError, type Cluster, type KubeObject } from '@taintmgr/sim-cluster';
import { collections } from '../../../cluster/collections.ts';
import { type Manifest, type Manifests, readManifests } from '../../../cluster/manifests.ts';
import { type Script, stepsOf } from '../script/script.ts';
import { type ClusterSource, podsMax } from '../source/source.ts';
import { templateUnknowns } from '../source/unknowns.ts';
import { Beginning } from '../stage/run.ts';
import { changedFields } from './fields.ts';
import { LeftOut } from './left-out.ts';

/** Manifests that are laid over a cluster. */
export interface Overlay {
  /** The cluster with them. */
  readonly source: ClusterSource;
  /** The manifests that an API server accepts, in the order of the requests. */
  readonly objects: readonly KubeObject[];
  readonly applied: readonly AppliedObject[];
}

interface ApplyOptions {
  readonly paths: readonly string[];
  readonly script: Script;
  readonly seed: number;
}

/**
 * Reads the manifests of files and folders and tries them on the cluster; their faults are in `missing` of
 * the cluster with them. Throws UsageError for a path that leads to none.
 */
export async function overlayOf(
  source: ClusterSource,
  { paths, script, seed }: ApplyOptions,
): Promise<Overlay> {
  const read = await readManifests({
    ...{ flag: '--apply', paths, recursive: true, namespace: 'default' },
  });
  const faults = [...fileFaults(read)];
  if (read.manifests.length === 0 && faults.length === 0) {
    const what = 'no manifest in it, want what kubectl apply takes';
    throw new UsageError(`--apply ${paths.join(' --apply ')}: ${what}`);
  }
  const trial = new Trial(source, trialCluster(source, script, seed), faults);
  for (const manifest of inOrder(distinct(read.manifests, faults))) trial.try(manifest);
  const { objects, applied, policies, unknowns } = trial;
  const isPolicy = policies.length > 0;
  return {
    objects,
    applied,
    source: {
      ...source,
      policies: filesFirst(policies, source.policies),
      // Where policies are added, the cluster has a controller that follows them.
      ...(isPolicy && { actor: { name: 'taintmgr', source: null } }),
      unknowns: new Map([...source.unknowns, ...unknowns]),
      notes: [...source.notes, ...trial.notes],
      missing: [...source.missing, ...faults],
    },
  };
}

/** Files that are no manifests; other files beside manifests in a folder are left out. */
function* fileFaults({ kustomizations, faults }: Manifests): Generator<string> {
  for (const file of kustomizations) {
    const folder = file.replace(/\/[^/]*$/, '');
    yield `${file}: what kustomize makes of this folder is not known; want its output, as of kubectl kustomize ${folder} | kubectl taintmgr simulate --apply -`;
  }
  for (const { file, line, text, isForeign, isTemplate } of faults) {
    if (isTemplate) {
      yield `${file}:${line}: a template of Helm; want what it makes, as of helm template CHART | kubectl taintmgr simulate --apply -`;
    } else if (!isForeign) yield `${file}:${line}: ${text}`;
  }
}

/** Returns each manifest once; of two with one name the first counts. */
function distinct(manifests: readonly Manifest[], faults: string[]): readonly Manifest[] {
  const first = new Map<string, Manifest>();
  for (const manifest of manifests) {
    const { apiVersion, kind, namespace, name, field } = manifest;
    const [group = ''] = apiVersion.split('/');
    const key = [group, kind, namespace, name].join(' ');
    const before = first.get(key);
    if (before) {
      const text = `${kind} ${name} is in ${before.field.place} already`;
      faults.push(field.faultAt(['metadata', 'name'], text).message);
    } else first.set(key, manifest);
  }
  return [...first.values()];
}

/** Kinds on which other objects depend: their manifests are applied first. */
const firstKinds = ['Namespace', 'PriorityClass'];

function inOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  const isFirst = ({ kind }: Manifest): boolean => firstKinds.includes(kind);
  return [...manifests.filter(isFirst), ...manifests.filter((one) => !isFirst(one))];
}

/** The cluster before anything happens in it. */
function trialCluster(source: ClusterSource, script: Script, seed: number): Cluster {
  const beginning = new Beginning({ source, script, seed, runs: 1 }).next();
  for (;;) {
    const step = beginning.next();
    if (step.done) return step.value.cluster;
  }
}

/** The annotation of kubectl apply. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** The group and the version of the kinds that play a part. */
const playing = new Map<string, string>(
  collections.flatMap(({ apiVersion, kind }) => (kind === 'Lease' ? [] : [[kind, apiVersion]])),
);

/** Applies manifests to a cluster one after the other, and keeps the answers of its API server. */
class Trial {
  readonly objects: KubeObject[] = [];
  readonly applied: AppliedObject[] = [];
  readonly policies: PolicyObject[] = [];
  readonly unknowns = new Map<string, readonly string[]>();
  readonly #source: ClusterSource;
  readonly #cluster: Cluster;
  readonly #faults: string[];
  readonly #without: string[] = [];
  readonly #neverApplied: string[] = [];
  readonly #leftOut: LeftOut;
  /** For how many pods all manifests ask. */
  #pods = 0;

  constructor(source: ClusterSource, cluster: Cluster, faults: string[]) {
    this.#source = source;
    this.#cluster = cluster;
    this.#leftOut = new LeftOut(cluster);
    this.#faults = faults;
  }

  get notes(): readonly string[] {
    const kinds = Array.from(countBy(this.#without), ([kind, number]) => `${kind} ${number}`);
    const names = choicesText(this.#neverApplied);
    const stays = 'fields that manifests have no more stay';
    return [
      ...this.#leftOut.notes,
      ...(this.#neverApplied.length === 0
        ? []
        : [`nothing says what was applied last to ${names}: ${stays}`]),
      ...(kinds.length === 0
        ? []
        : [`kinds of --apply that play no part are left out: ${kinds.join(', ')}`]),
    ];
  }

  try(manifest: Manifest): void {
    const { apiVersion, kind, field } = manifest;
    const served = playing.get(kind);
    if (served === policyApiVersion && apiVersion === served) this.#tryPolicy(manifest);
    else if (served === apiVersion) this.#tryObject(manifest);
    else if (served !== undefined && isEarlier(apiVersion, served)) {
      const text = `${apiVersion} ${kind} is not served, want ${served}`;
      this.#faults.push(field.faultAt(['apiVersion'], text).message);
    } else this.#without.push(kind);
  }

  #tryPolicy(manifest: Manifest): void {
    const { field } = manifest;
    const judged = readManifest(field.value, this.#source.startsAt);
    if (judged.kind === 'refused') {
      const faults = judged.faults.map(({ path, text }) => field.faultAt(path, text).message);
      this.#faults.push(...faults);
      return;
    }
    const { kind, value } = judged.value;
    const before = this.#source.policies.find((one) => {
      return one.kind === kind && one.value.name === value.name;
    });
    this.policies.push(judged.value);
    const was = before ? { spec: asked(before.value) } : null;
    this.#note(manifest, '', was, { spec: asked(value) });
  }

  #tryObject(manifest: Manifest): void {
    const { kind, namespace, name, field } = manifest;
    // The kinds of the collections are objects.
    const object = field.value as KubeObject;
    try {
      this.#refuse(manifest, object);
      // Next to nothing of a pod can change.
      const isThere = kind === 'Pod' && this.#cluster.api.get('pods', namespace, name) !== null;
      if (isThere) this.#note(manifest, namespace, object, object);
      else this.#lay(manifest, object);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#faults.push(...placedFaults(manifest, error));
    }
  }

  #lay(manifest: Manifest, object: KubeObject): void {
    const { api } = this.#cluster;
    const { before, after } = api.apply(object);
    const { name, namespace = '', annotations } = (before ?? after).metadata;
    this.objects.push(this.#leftOut.applied(object, before, after));
    const [was, is] = [before, after].map((one) => one && this.#leftOut.counted(one));
    this.#note(manifest, namespace, was ?? null, is ?? after);
    const isRead = this.#source.bringToRest === null;
    if (isRead && before && !annotations?.[lastApplied]) {
      this.#neverApplied.push(`${manifest.kind} ${name}`);
    }
    const unknown = templateUnknowns(after, api);
    if (unknown.length > 0) this.unknowns.set(`${namespace}/${name}`, unknown);
  }

  /** Refuses new nodes, too many pods and, as kubectl, objects without a name. Throws ApiError. */
  #refuse({ kind, name }: Manifest, { metadata, spec }: KubeObject): void {
    if (typeof metadata.name !== 'string' || metadata.name === '') {
      throw new ApiError(400, null, 'metadata.name: Required value: apply needs it');
    }
    const asked = ['replicas', 'parallelism'].map((field): unknown => Object(spec)[field]);
    const pods = asked.reduce<number>(
      (sum, one) => sum + (typeof one === 'number' ? one : 0),
      this.#pods,
    );
    if (pods > podsMax) {
      const text = `${pods} pods are asked for up to here, want at most ${podsMax} of all manifests`;
      throw new ApiError(400, null, text);
    }
    this.#pods = pods;
    if (kind !== 'Node' || this.#cluster.api.get('nodes', '', name)) return;
    const text = 'there is no such node, and a manifest makes no machine; want addNode of --script';
    throw new ApiError(400, null, text);
  }

  #note(
    { file, field, kind, name }: Manifest,
    namespace: string,
    before: object | null,
    after: object,
  ): void {
    const fields = before === null ? [] : changedFields(before, after);
    const change = before === null ? 'created' : fields.length > 0 ? 'changed' : 'unchanged';
    const line = lineOf(field);
    this.applied.push({ ...{ file, line, kind, namespace, name, change, fields } });
  }
}

/** Of an earlier version, or from when its group had another name. */
function isEarlier(apiVersion: string, served: string): boolean {
  const groupOf = (version: string): string =>
    version.includes('/') ? (version.split('/')[0] ?? '') : '';
  return [groupOf(served), 'extensions'].includes(groupOf(apiVersion));
}

/** The fields of a policy, without those that a cluster adds. */
function asked(value: object): object {
  const {
    uid: _uid,
    generation: _generation,
    since: _since,
    ...said
  } = value as {
    readonly uid?: string;
    readonly generation?: number;
    readonly since?: Instant;
  };
  return said;
}

function lineOf(field: Field): number {
  return Number(
    /:(\d+):\d+$/.exec(field.find(['metadata', 'name'])?.place ?? field.place)?.[1] ?? 1,
  );
}

/** A refusal at the fields that it names. */
function placedFaults({ kind, name, field }: Manifest, error: ApiError): readonly string[] {
  const what = `${kind} ${name}`;
  const causes = error.status.details?.causes ?? [];
  if (causes.length > 0) {
    return causes.map(({ field: path = '', message }) => {
      return field.faultAt(stepsOf(path), `${what}: ${path}: ${message}`).message;
    });
  }
  const unknown = Array.from(
    error.message.matchAll(/unknown field "([^"]*)"/g),
    ([, path]) => path,
  );
  if (unknown.length > 0) {
    return unknown.map((path = '') => {
      return field.faultAt(stepsOf(path), `${what}: unknown field "${path}"`).message;
    });
  }
  const [, value = '', goPath] =
    /cannot unmarshal (\w+).* Go struct field [^. ]+\.(\S+) of type/.exec(error.message) ?? [];
  const at = goPath === undefined ? field : field.below(goPath.split('.'), value);
  const text = error.message.replace(/^.* cannot be handled as an? \w+: /, '');
  return [at.fault(`${what}: ${text}`).message];
}
