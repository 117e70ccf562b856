import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { parse, parseAllDocuments } from 'yaml';
import type { Environment } from '../src/flags/environment.ts';

/** What a kustomization amounts to. */
export interface Manifests {
  readonly objects: readonly KubeObject[];
  /** Of the controller's container. */
  readonly environment: Environment;
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
}

const root = fileURLToPath(new URL('../../../deploy/kustomize', import.meta.url));

/** Reads folders of deploy/kustomize, the later ones over the earlier ones. */
export function readManifests(...folders: readonly string[]): Manifests {
  return merge(folders.map((folder) => readKustomization(join(root, folder))));
}

function readKustomization(folder: string): Manifests {
  const file = readFileSync(join(folder, 'kustomization.yaml'), 'utf8');
  const { resources = [], components = [], patches = [] }: Kustomization = parse(file);
  const below = [...resources, ...components].map((path) => join(folder, path));
  const patched = patches.map(({ path }) => environmentOf(readObjects(join(folder, path))));
  const read = below.map((path) => {
    if (statSync(path).isDirectory()) return readKustomization(path);
    const objects = readObjects(path);
    return { objects, environment: environmentOf(objects) };
  });
  return merge([...read, ...patched.map((environment) => ({ objects: [], environment }))]);
}

function merge(parts: readonly Manifests[]): Manifests {
  return {
    objects: parts.flatMap(({ objects }) => objects),
    environment: Object.assign({}, ...parts.map(({ environment }) => environment)),
  };
}

function readObjects(file: string): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
}

function environmentOf(objects: readonly KubeObject[]): Environment {
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  const containers: readonly { env?: readonly { name: string; value: string }[] }[] =
    deployments.flatMap(({ spec }) => spec.template.spec.containers);
  const entries = containers.flatMap(({ env = [] }) => env.map(({ name, value }) => [name, value]));
  return Object.fromEntries(entries);
}

/** The folder of a kustomization, for programs that read it themselves. */
export function manifestFolder(folder: string): string {
  return join(dirname(root), 'kustomize', folder);
}
