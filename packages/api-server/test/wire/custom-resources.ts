import { readFileSync } from 'node:fs';
import type { Json, KubeObject } from '@taintmgr/sim-cluster';
import type { WireCase, WireCases } from './case.ts';
import type { Hand } from './hand.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Longer than it takes until a definition is served. */
const servedMs = 100;

interface Recording {
  readonly exchanges: readonly {
    readonly request: {
      readonly method: string;
      readonly path: string;
      readonly body?: KubeObject;
    };
    readonly response: { readonly body?: Json };
  }[];
}

/** A recording whose definitions are made where it says so, and what its file does not hold. */
function custom(
  file: string,
  objects: readonly KubeObject[] = [],
  without: WireCase['without'] = {},
): WireCases {
  const url = new URL(`../testdata/wire/11-custom-resources/${file}.json`, import.meta.url);
  const { exchanges }: Recording = JSON.parse(readFileSync(url, 'utf8'));
  const isDefinition = ({ request, response }: Recording['exchanges'][number]): boolean =>
    request.path === definitions && typeof response.body === 'string';
  const made = exchanges.flatMap((exchange, index) => (isDefinition(exchange) ? [index] : []));
  const prepare = (hand: Hand): undefined => {
    for (const index of made) hand.client.post(definitions, exchanges[index]?.request.body);
    hand.clock.advanceTo(hand.clock.now() + servedMs);
    for (const object of objects) {
      const [group = '', version = ''] = object.apiVersion?.split('/') ?? [];
      const plural = `${object.kind?.toLowerCase()}s`;
      const path = `/apis/${group}/${version}/namespaces/wire-crs/${plural}`;
      const { status, text } = hand.client.post(path, object);
      if (status !== 201) throw new Error(text);
    }
  };
  const elsewhere = Object.fromEntries(made.map((index) => [index, 'its answer is cut']));
  return {
    [`11-custom-resources/${file}`]: {
      namespace: 'wire-crs',
      prepare,
      without: { ...elsewhere, ...without },
    },
  };
}

const fromGo = 'words of a parser that is not ours';

/** Definitions most of which are refused; one that is not goes before the next. */
function refused(file: string, without: WireCase['without'] = {}): WireCases {
  const url = new URL(`../testdata/wire/10-crd/${file}.json`, import.meta.url);
  const { exchanges }: Recording = JSON.parse(readFileSync(url, 'utf8'));
  const clear = ({ api, client, clock }: Hand): void => {
    for (const { metadata } of api.list('customresourcedefinitions')) {
      client.delete(`${definitions}/${metadata.name}`);
    }
    clock.advanceTo(clock.now() + servedMs);
  };
  const before = Object.fromEntries(exchanges.map((_, index) => [index, clear]));
  return { [`10-crd/${file}`]: { namespace: 'default', before, without } };
}

const widget = (name: string, spec: object): KubeObject => ({
  apiVersion: 'wire-cr.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
});
const rule: KubeObject = { ...widget('s', {}), kind: 'Rule' };

/** Definitions that are refused, and custom resources. */
export const customResourceCases: WireCases = {
  ...refused('create-errors-names'),
  ...refused('create-errors-schema', { 16: fromGo }),
  ...refused('create-errors-versions'),
  ...refused('create-errors-two-versions'),
  ...refused('create-errors-cel'),
  ...custom('validation', [], {
    13: 'a wrong division by nought',
    16: 'numbers that no int64 holds are refused before',
    40: 'in an order of chance',
  }),
  ...custom('cel', [rule]),
  ...custom('cel-transition'),
  ...custom('patch', [widget('p', { name: 'ab', size: 5, rules: [{ k: 'a' }, { k: 'b' }] })]),
};
