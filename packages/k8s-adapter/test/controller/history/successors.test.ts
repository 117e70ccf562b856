// Who takes whose place, where budgets let two pods of one owner go one after the other.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMaps, Controller, podOf, start } from './stage.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const [first, second] = [podOf(1, { owner }), podOf(2, { owner })];
const come = (index: number, at: number) =>
  podOf(index, { owner, namespace: first.namespace, nodeName: 'n2', boundAt: at });

/** Who came in whose place, by index. */
function play(act: (controller: Controller) => void): Readonly<Record<string, string | undefined>> {
  const [controller, server] = [new Controller('a'), new ConfigMaps()];
  controller.lead(start);
  controller.settle(start, server);
  for (const pod of [first, second]) {
    controller.witness.hear(start, {
      kind: 'podUpsert',
      pod: { ...pod, namespace: first.namespace },
    });
  }
  act(controller);
  controller.run(start + 600_000, server);
  const { departures } = server.search();
  return Object.fromEntries(departures.map(({ pod, successor }) => [pod, successor?.pod]));
}

describe('successors', () => {
  const refused = 'The disruption budget web needs 2 healthy pods and has 2 currently';
  const [one, other] = [first, { ...second, namespace: first.namespace }];
  const evict = (controller: Controller, pod: typeof one, at: number, message?: string): void => {
    controller.evict(start + at, pod, message);
    if (message !== undefined) return;
    const deletionTimestamp = start + at + 30_000;
    controller.witness.hear(start + at, { kind: 'podUpsert', pod: { ...pod, deletionTimestamp } });
  };
  const bind = (controller: Controller, index: number, at: number): void => {
    const pod = come(index, start + at);
    controller.witness.hear(start + at, { kind: 'podUpsert', pod: { ...pod, nodeName: '' } });
    controller.witness.hear(start + at, { kind: 'podUpsert', pod });
  };

  it('come in the place of who was let go, not of who was refused before', () => {
    const found = play((controller) => {
      evict(controller, one, 0, refused);
      evict(controller, other, 0, refused);
      evict(controller, other, 15_000);
      bind(controller, 3, 15_000);
      evict(controller, one, 20_000);
      bind(controller, 4, 20_000);
    });
    assert.deepEqual(found, {
      [one.name]: come(4, 0).name,
      [other.name]: come(3, 0).name,
    });
  });

  it('come for nobody while all are refused', () => {
    const found = play((controller) => {
      evict(controller, one, 0, refused);
      bind(controller, 3, 5_000);
    });
    assert.deepEqual(found, { [one.name]: undefined });
  });
});
