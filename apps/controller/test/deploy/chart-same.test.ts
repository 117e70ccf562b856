// The chart and deploy/kustomize are the same installation: object by object, for every mode and component.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { parseAllDocuments, stringify } from 'yaml';
import { objectsOf, renderAll, skip as skipChart } from './chart.ts';
import { foldersOf, titleOf, valuesOf, ways, worked } from './chart-choices.ts';
import { containerOf, manifestFolder } from './manifests.ts';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const skipKubectl =
  !hasKubectl && process.env.REQUIRE_KUBECTL !== '1' && 'there is no kubectl on PATH';
const skip = skipChart || skipKubectl;

/** The objects that `kubectl kustomize` prints for a kustomization of these folders. */
function kustomized(t: TestContext, folders: readonly string[]): readonly KubeObject[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'taintmgr-same-')));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = join(folder, 'own');
  mkdirSync(own);
  const [mode = '', ...components] = folders.map((name) => relative(own, manifestFolder(name)));
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
      assert.deepEqual(byName(objectsOf(rendering)), byName(kustomized(t, foldersOf(way))));
    });
  }
});

/** The values that the `helm upgrade` of a page sets, where controllers act. */
function upgradeOf(page: string): Readonly<Record<string, unknown>> {
  const text = readFileSync(join(manifestFolder('../helm/taintmgr'), page), 'utf8');
  const [command = ''] = /helm upgrade(?:.*\\\n)+.*/.exec(text) ?? [];
  const values: Record<string, Record<string, boolean> | string> = {};
  for (const [, name = '', value = ''] of command.matchAll(/--set ([\w.]+)=(\w+)/g)) {
    const [first = '', second] = name.split('.');
    if (second === undefined) values[first] = value;
    else values[first] = { ...Object(values[first]), [second]: value === 'true' };
  }
  return values;
}

describe('the helm upgrade by which the chart acts', { skip }, () => {
  for (const page of ['README.md', 'templates/NOTES.txt']) {
    const { nodeLifecycle, ...others } = upgradeOf(page);
    const managed = { ...others, takeover: nodeLifecycle };
    const cases = [
      ['clusters/own', { ...others, nodeLifecycle }],
      ['clusters/managed', managed],
    ] as const;
    for (const [folder, values] of cases) {
      it(`${page} is ${folder}`, (t) => {
        const [rendering = assert.fail()] = renderAll([{ values }]);
        assert.deepEqual(byName(objectsOf(rendering)), byName(kustomized(t, [folder])));
      });
    }
  }

  it('is in the mode that the shadow before it rehearses', () => {
    const installs = [{}, { values: upgradeOf('README.md') }];
    const shadowed = { values: { config: { eviction: { mode: 'delete' } } } };
    const modes = renderAll([...installs, shadowed]).map(
      (rendering) => containerOf(objectsOf(rendering)).environment.TAINTMGR_MODE,
    );
    assert.deepEqual(modes, ['evict', 'evict', 'delete']);
  });
});
