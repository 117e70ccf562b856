// Everything that the package offers, by name: a new name, or one that is gone, is on purpose.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import * as door from '../src/index.ts';

const values = `
  ApiServer ServedCluster callOverHttps createCertificate encodeFrame
  encodeObject evictionDefinition evictionRequestDefinition installDefinitions serviceAccountUser
  startEmbedded startHttps topologies writeKubeconfig`;

const types = `
  ApiServerOptions Denial EmbeddedCluster EmbeddedOptions HttpsServer KubernetesVersion Right
  ServedClusterOptions Tokens`;

it('the package offers exactly these values and types', () => {
  const source = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8');
  assert.deepEqual(Object.keys(door).sort(), words(values));
  assert.deepEqual(exportedTypes(source), words(types));
});

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** The types in the door's export lists: those of `export type {}`, and each `type` in the others. */
function exportedTypes(source: string): readonly string[] {
  const lists = Array.from(source.matchAll(/export (type )?\{([^}]*)\}/g));
  const types = lists.flatMap(([, isTypes, list = '']) => {
    const names = list.split(',').map((name) => name.trim());
    const typed = names.filter((name) => name !== '' && (isTypes || name.startsWith('type ')));
    return typed.map((name) => name.replace(/^type /, ''));
  });
  return types.sort();
}
