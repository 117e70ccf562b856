import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aboutEviction } from '../../src/model/eviction.ts';
import { nothing } from '../../src/model/pod-history.ts';
import { rowsOf } from '../../src/model/rows.ts';
import { clock } from '../../src/model/words.ts';
import { run, simulation, totals } from '../world/simulation.ts';

/** More than a call of JavaScript takes as arguments. */
const long = 300_000;

function eachSecond<Item>(make: (at: number) => Item): Item[] {
  return Array.from({ length: long }, (_, at) => make(at));
}

const pod = { namespace: 'shop', pod: 'web-1', node: 'a-1', workload: 'Deployment shop/web' };
const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };

describe('the page of a run with very many changes', () => {
  it('has the lanes of its workloads, zones and pods without room', () => {
    const input = {
      ...simulation(
        run({
          summary: [totals('web', { downMax: 1 })],
          workloads: [
            {
              ...web,
              states: eachSecond((at) => ({ at, wanted: 2, ready: 2 - (at % 2) })),
              serving: eachSecond((at) => ({ at, pods: 2 - (at % 2) })),
            },
          ],
          nodes: [
            {
              ...{ name: 'a-1', zone: 'r/a' },
              states: eachSecond((at) => {
                const ready = at % 2 === 0 ? 'True' : 'Unknown';
                return { at, ready, cordoned: false, taints: [] };
              }),
            },
          ],
          unplaced: eachSecond((at) => {
            return { ...pod, from: at, until: at + 0.5, message: 'no room' };
          }),
        }),
      ),
      untilSeconds: long,
    };
    const rows = rowsOf(input, { opened: new Set(), query: '', isHarmOnly: false });
    const areas = rows.flatMap(({ label, area }) => (area ? [[label, area.most]] : []));
    assert.deepEqual(areas, [
      ['shop/web', 2],
      ['Pending: no room', 1],
      ['r/a', 1],
    ]);
  });

  it('tells why a pod was evicted that had been evicted as often', () => {
    const evictions = eachSecond((at) => ({ ...pod, at, how: 'evict', because: ['x'] }) as const);
    const last = evictions.at(-1) ?? assert.fail();
    const setAt = long - 1;
    const deadline = { ...pod, setAt, dueAt: setAt, endedAt: setAt, because: ['x'] };
    const history = {
      ...nothing,
      evictions,
      deadlines: [{ ...deadline, end: 'evicted' as const }],
    };
    const { facts } = aboutEviction(last, history, clock);
    assert.ok(facts.some(([name]) => name === 'deadline'));
  });
});
