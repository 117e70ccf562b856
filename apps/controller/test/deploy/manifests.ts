import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { parse, parseAllDocuments } from 'yaml';
import type { Environment } from '../../src/flags/resolve.ts';

/** What a kustomization amounts to. */
export interface Manifests {
  readonly objects: readonly KubeObject[];
  /** Of the controller's container. */
  readonly environment: Environment;
  /** The flags that its container is started with. */
  readonly flags: readonly string[];
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly Patch[];
}

interface Patch {
  readonly path: string;
  /** A list of operations has one; what is merged names its object itself. */
  readonly target?: object;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  /** The downward API; its value is here the path of the field. */
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
}

interface Container {
  readonly env?: readonly Variable[];
  readonly args?: readonly string[];
}

const root = fileURLToPath(new URL('../../../../deploy/kustomize', import.meta.url));

/** Reads folders of deploy/kustomize, the later ones over the earlier ones. */
export function readManifests(...folders: readonly string[]): Manifests {
  return merge(folders.map((folder) => readKustomization(join(root, folder))));
}

function readKustomization(folder: string): Manifests {
  const file = readFileSync(join(folder, 'kustomization.yaml'), 'utf8');
  const { resources = [], components = [], patches = [] }: Kustomization = parse(file);
  const below = [...resources, ...components].map((path) => join(folder, path));
  const read = below.map((path) => {
    if (statSync(path).isDirectory()) return readKustomization(path);
    const objects = readObjects(path);
    return { objects, ...containerOf(objects) };
  });
  const patched = patches.map(({ path, target }) => {
    const file = join(folder, path);
    return { objects: [], ...(target ? argumentsIn(file) : containerOf(readObjects(file))) };
  });
  return merge([...read, ...patched]);
}

function merge(parts: readonly Manifests[]): Manifests {
  return {
    objects: parts.flatMap(({ objects }) => objects),
    environment: Object.assign({}, ...parts.map(({ environment }) => environment)),
    flags: parts.flatMap(({ flags }) => flags),
  };
}

function readObjects(file: string): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
}

/** The only operations there are: those that add an argument. */
function argumentsIn(file: string): Omit<Manifests, 'objects'> {
  const operations: readonly { readonly value: string }[] = parse(readFileSync(file, 'utf8'));
  return { environment: {}, flags: operations.map(({ value }) => value) };
}

/** What the container of the Deployment among these is started with. */
export function containerOf(objects: readonly KubeObject[]): Omit<Manifests, 'objects'> {
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  const containers: readonly Container[] = deployments.flatMap(
    ({ spec }) => spec.template.spec.containers,
  );
  const entries = containers.flatMap(({ env = [] }) =>
    env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.fieldRef.fieldPath]),
  );
  return {
    environment: Object.fromEntries(entries),
    flags: containers.flatMap(({ args = [] }) => args),
  };
}

/** The folder of a kustomization, for programs that read it themselves. */
export function manifestFolder(folder: string): string {
  return join(dirname(root), 'kustomize', folder);
}
