// The chart and deploy/kustomize are the same installation: object by object, for every mode and component.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { parseAllDocuments, stringify } from 'yaml';
import { objectsOf, renderAll, skip as skipChart } from './chart.ts';
import { foldersOf, titleOf, valuesOf, type Way, ways, worked } from './chart-choices.ts';
import { manifestFolder } from './manifests.ts';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const skipKubectl =
  !hasKubectl && process.env.REQUIRE_KUBECTL !== '1' && 'there is no kubectl on PATH';
const skip = skipChart || skipKubectl;

/** What `kubectl kustomize` makes of a kustomization of somebody's own. */
function kustomized(t: TestContext, way: Way): readonly KubeObject[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'taintmgr-same-')));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = join(folder, 'own');
  mkdirSync(own);
  const [mode = '', ...components] = foldersOf(way).map((name) =>
    relative(own, manifestFolder(name)),
  );
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [mode],
    components,
  };
  writeFileSync(join(own, 'kustomization.yaml'), stringify(kustomization));
  const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', own], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout).map((each) => each.toJS());
}

/** Labels that say what it is, which components of kustomize do not set, and by what it was installed. */
const standard = [
  'app.kubernetes.io/name',
  'app.kubernetes.io/component',
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/version',
  'app.kubernetes.io/managed-by',
  'helm.sh/chart',
];

/** Without what is bound to differ, which other tests look at. */
function comparable(object: KubeObject): object {
  const { metadata } = object;
  const labels = Object.entries(metadata.labels ?? {}).filter(([name]) => !standard.includes(name));
  const { 'helm.sh/resource-policy': _keep, ...annotations } = metadata.annotations ?? {};
  const rest = { ...metadata, annotations, labels: Object.fromEntries(labels) };
  return { ...object, metadata: rest, ...(object.kind === 'Deployment' && deployed(object)) };
}

/** Where the image is differs; neither of the lists depends on its order. */
function deployed({ spec }: KubeObject): { readonly spec: object } {
  const [container] = spec.template.spec.containers;
  const { image: _image, imagePullPolicy: _when, env, args, ...others } = container;
  const sorted = {
    ...others,
    env: Object.fromEntries(env.map(({ name, value }: Record<string, string>) => [name, value])),
    args: args.toSorted(),
  };
  const pod = { ...spec.template.spec, containers: [sorted] };
  return { spec: { ...spec, template: { ...spec.template, spec: pod } } };
}

function byName(objects: readonly KubeObject[]): ReadonlyMap<string, object> {
  return new Map(
    objects
      // Helm makes the namespace itself, or somebody else does.
      .filter(({ kind }) => kind !== 'Namespace')
      .map((object) => {
        const { name, namespace = '' } = object.metadata;
        return [`${object.kind} ${namespace}/${name}`, comparable(object)] as const;
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe('the chart is the same installation as deploy/kustomize', { skip }, () => {
  const compared = [...ways, ...worked];
  const renderings = skip ? [] : renderAll(compared.map((way) => ({ values: valuesOf(way) })));
  for (const [index, way] of compared.entries()) {
    it(titleOf(way), (t) => {
      const rendering = renderings[index] ?? assert.fail();
      assert.deepEqual(byName(objectsOf(rendering)), byName(kustomized(t, way)));
    });
  }
});
