// What a person sees who works with custom resources by the machine's own kubectl.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EmbeddedCluster, startEmbedded } from '../src/embedded.ts';
import { Kubectl, withoutKubectl } from './world/kubectl.ts';

const definition = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['things'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                description: 'What is wanted.',
                properties: {
                  size: { type: 'integer', description: 'How big.', default: 3, maximum: 9 },
                },
                'x-kubernetes-validations': [{ rule: 'self.size != 7', message: 'never seven' }],
              },
            },
          },
        },
      },
    ],
  },
});
const widget = (size: number): string =>
  JSON.stringify({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { size },
  });

describe('kubectl on custom resources', { skip: withoutKubectl }, () => {
  const kubectl = new Kubectl();
  let embedded: EmbeddedCluster;
  const ok = (line: string, input = ''): Promise<string> => kubectl.ok(line, input);

  before(async () => {
    embedded = await startEmbedded({ kubeconfig: kubectl.kubeconfig });
    await ok('apply -f -', definition);
    await ok('wait --for=condition=Established crd/widgets.example.com --timeout=150s');
  });
  after(async () => {
    await embedded.stop();
    kubectl.remove();
  });

  it('explains them by their schema', async () => {
    assert.match(
      await ok('explain widgets.spec'),
      /What is wanted\.[\s\S]*size\t<integer>\n +How big\./,
    );
  });

  it('applies them, shows their columns, and applies them on the server side after that', async () => {
    assert.match(await ok('apply -f -', widget(5)), /created/);
    assert.match(await ok('apply -f -', widget(5)), /unchanged/);
    assert.match(await ok('get wd'), /^NAME +SIZE\nw +5\n$/);
    assert.match(await ok('get things'), /w +5/);
    const { code, out, err } = await kubectl.run('apply --server-side -f -', widget(5));
    assert.equal(code, 0, err);
    assert.match(out, /serverside-applied/);
    assert.doesNotMatch(err, /failed to re-apply/);
    assert.match(await ok('get wd w -o jsonpath={.spec.size}'), /^5$/);
  });

  it('says by path what is wrong', async () => {
    const patched = (size: string) =>
      kubectl.run(`patch wd w --type=merge -p {"spec":{"size":${size}}}`);
    const tooBig = /spec\.size: Invalid value: 10: spec\.size in body should be less than/;
    assert.match((await patched('10')).err, tooBig);
    assert.match((await patched('7')).err, /spec: Invalid value: never seven/);
    assert.match((await patched('"x"')).err, /must be of type integer: "string"/);
  });

  it('deletes them with their definition', async () => {
    await ok('delete crd widgets.example.com --timeout=150s');
    assert.equal((await kubectl.run('get wd')).code, 1);
  });
});
